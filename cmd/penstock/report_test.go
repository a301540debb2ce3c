package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"penstock/runtime"
)

func TestClosingReportEndsAtTheWidthAndWithWhatToDoNext(t *testing.T) {
	at := time.Unix(1000, 0)
	unfinished := &runtime.TableResult{Name: "orders_of_the_year", Target: "orders_of_the_year", Action: "begin", State: "unfinished",
		Chunks: 1, ChunksDone: 1, Read: 4_000_000, Rows: 3_000_000, Filtered: 1_000_000, Seconds: 2,
		Ranges: []runtime.RangeResult{{Range: 1, Rows: 2_000_000}, {Range: 3, Rows: 1_000_000}}}
	for _, c := range []struct {
		name       string
		pipeline   runtime.PipelineResult
		want, lack []string
	}{
		{"cut short", runtime.PipelineResult{Epoch: 1, Drained: true, Exit: 130, Tables: []*runtime.TableResult{unfinished}},
			[]string{"cut short after 1.0s (exit 130)", "rows of this run by range: #1 2,000,000, #3 1,000,000", "1 of 1 chunk\n", "\nnext: bin/penstock run x.hcl\n"}, nil},
		{"failed", runtime.PipelineResult{Epoch: 1, Exit: 1, Error: &runtime.ErrorResult{Message: strings.Repeat("word ", 30)}},
			[]string{"what was done is kept", "\nnext: "}, nil},
		{"never claimed", runtime.PipelineResult{Exit: 5, Error: &runtime.ErrorResult{Message: "held"}, Tables: []*runtime.TableResult{unfinished}},
			[]string{"(exit 5); nothing was done"}, []string{"next:", "kept", "orders"}},
		{"rows set aside", runtime.PipelineResult{Epoch: 1, Exit: 3, Tables: []*runtime.TableResult{unfinished}},
			[]string{"with rows set aside (exit 3)"}, []string{"next:"}},
	} {
		p := c.pipeline
		p.Name, p.Source, p.Target, p.Started, p.Ended, p.OneState = "p", "source.s", "target.d", at, at.Add(time.Second), true
		var b bytes.Buffer
		(&closing{w: &b, width: 80, again: "bin/penstock run x.hcl"}).write(&runtime.Results{Pipelines: []*runtime.PipelineResult{&p}})
		for _, l := range strings.Split(b.String(), "\n") {
			if len(l) > 80 {
				t.Errorf("%s: a line of %d columns: %s", c.name, len(l), l)
			}
		}
		for _, w := range c.want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, b.String())
			}
		}
		for _, w := range c.lack {
			if strings.Contains(b.String(), w) {
				t.Errorf("%s: %q in\n%s", c.name, w, b.String())
			}
		}
	}
}
