package oracle_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
)

func probe(t *testing.T, s *oracletest.Server, o connectors.ProbeOptions) *connectors.Probe {
	t.Helper()
	c, env := configOf(s)
	told := 0
	p, err := oracle.Definition().Source.Probe(context.Background(), c, env, o, func(connectors.ProbeRun) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	if told != len(p.Runs) || told == 0 {
		t.Errorf("told of %d runs, the result has %d", told, len(p.Runs))
	}
	return p
}

// TestProbeAgreesWithTheServersCounters: what the server counts, what we count on
// the wire and what the values make differ by the protocol's overhead.
func TestProbeAgreesWithTheServersCounters(t *testing.T) {
	for _, compat := range []string{connectors.NetThroughput, ""} {
		s := double(t, oracletest.NewDatabase())
		p := probe(t, s, connectors.ProbeOptions{Compat: compat, Streams: []int{1, 2}, Period: 300 * time.Millisecond, Rampup: time.Second})
		for _, r := range p.Runs {
			if r.Queries == 0 || r.Logical <= 0 {
				t.Fatalf("%q: %+v", compat, r)
			}
			// An answer that tells the server's count is in one of them and not in the other.
			if d := r.Received - r.Sent; max(d, -d) > int64(500*r.Streams) {
				t.Errorf("%q, %d streams: the server sent %d octets, we received %d", compat, r.Streams, r.Sent, r.Received)
			}
			// netthroughput's physical figure has the warm-up query in it, and its
			// logical one 76 octets a row that are not there.
			queries := float64(r.Queries)
			if compat != "" {
				queries += float64(r.Streams)
			}
			values := queries * 63 * float64(p.RowBytes)
			if compat != "" {
				values -= queries * 63 * 76
			}
			if over := float64(r.Sent)/values - 1; over < 0 || over > 0.02 {
				t.Errorf("%q, %d streams: %d octets sent for %.0f of values: %.2f %% over", compat, r.Streams, r.Sent, values, 100*over)
			}
			if r.Slowest > r.Fastest || r.QueryP50 > r.QueryP99 || r.Verdict == "" || r.Unreliable != "" {
				t.Errorf("%q: %+v", compat, r)
			}
		}
		if want := int64(5*(3240+16) - 5); p.RowBytes < want-40 || p.RowBytes > want+100 {
			t.Errorf("%q: rows of %d octets, want about %d", compat, p.RowBytes, want)
		}
		if want := map[string]int{"": 64, connectors.NetThroughput: 8}[compat]; p.Fetch != want {
			t.Errorf("%q: %d rows an answer, want %d", compat, p.Fetch, want)
		}
	}
}

// TestNetThroughputDividesByItsPeriod is the arithmetic of the original.
func TestNetThroughputDividesByItsPeriod(t *testing.T) {
	p := probe(t, double(t, oracletest.NewDatabase()), connectors.ProbeOptions{Compat: connectors.NetThroughput, Period: 200 * time.Millisecond, Rampup: time.Second})
	r := p.Runs[0]
	if want := float64(r.Queries*63*p.RowBytes) / 1e9 / 0.2; r.Seconds != 0.2 || math.Abs(r.Logical/want-1) > 0.001 {
		t.Errorf("logical %.4f GB/s of %d queries in %.3f s, want %.4f in the period", r.Logical, r.Queries, r.Seconds, want)
	}
	if want := float64(r.Sent) / 1e9 / 0.2; math.Abs(r.Physical/want-1) > 1e-9 {
		t.Errorf("physical %.4f GB/s, want %.4f", r.Physical, want)
	}
}

func TestProbeFindsAKneeAndDoesWithoutStatistics(t *testing.T) {
	s := double(t, oracletest.NewDatabase())
	s.Denied["V$MYSTAT"] = true
	p := probe(t, s, connectors.ProbeOptions{Period: 100 * time.Millisecond})
	if p.Knee < 1 || len(p.Runs) < 2 || p.Runs[0].Physical != 0 || p.Runs[0].Wire <= 0 {
		t.Errorf("got %+v", p)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "V_$MYSTAT") {
		t.Errorf("notes %q, want one with the grant", p.Notes)
	}
	if p.ConnectMillis <= 0 || p.PingMillis <= 0 || p.StatementMillis <= 0 || p.PingMillis99 < p.PingMillis {
		t.Errorf("latencies: %+v", p)
	}
}

func TestALateStreamMakesTheProbeUnreliable(t *testing.T) {
	p := probe(t, double(t, oracletest.NewDatabase()), connectors.ProbeOptions{Compat: connectors.NetThroughput, Period: 50 * time.Millisecond, Rampup: -time.Hour})
	if u := p.Runs[0].Unreliable; !strings.Contains(u, "--rampup") {
		t.Errorf("got %q, want the ramp-up to give", u)
	}
}
