package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"penstock/connectors"
)

const (
	sqlDual = "SELECT 1 FROM dual"
	sqlSent = "SELECT s.value FROM v$mystat s JOIN v$statname n ON n.statistic# = s.statistic# WHERE n.name = 'bytes sent via SQL*Net to client'"
	// sqlRandom is where netthroughput takes its literals from.
	sqlRandom = "SELECT dbms_random.string('p', 3240) FROM dual"

	noiseColumns = 5
	noiseLiteral = 3240
	// noiseRows is the bind of "rownum < :n": one row less than netthroughput's
	// comment says, in its query as in ours.
	noiseRows = 64
	// rowOverhead is what netthroughput counts for a row beside its values.
	rowOverhead = 76

	mostStreams = 64
	gain        = 1.05 // more streams are tried while they gain that
)

// noiseQuery makes rows of nearly 16 KiB that neither compression nor the
// protocol's leaving out of repeated values makes shorter: a literal of random
// characters between two hashes of a new identifier, five times.
func noiseQuery(literals []string) string {
	const hash = "to_char(ora_hash(sys_guid()),'FMXXXXXXXX')"
	var cols []string
	for i, l := range literals {
		cols = append(cols, fmt.Sprintf("%s || '%s' || %s c%d", hash, strings.ReplaceAll(l, "'", " "), hash, i+1))
	}
	return "SELECT " + strings.Join(cols, ", ") + " FROM dual CONNECT BY rownum < :n"
}

// printable is what DBMS_RANDOM.STRING('p', n) gives.
func printable(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + rand.IntN(95))
	}
	return string(b)
}

// prober measures the way to one database.
type prober struct {
	server *server
	o      connectors.ProbeOptions
	query  string
	out    *connectors.Probe
	hidden bool // V$MYSTAT may not be seen
}

func probe(ctx context.Context, config any, env connectors.Env, o connectors.ProbeOptions, tell func(connectors.ProbeRun)) (*connectors.Probe, error) {
	env.Pipeline = "probe"
	s, err := newServer(*config.(*SourceConfig), env)
	if err != nil {
		return nil, err
	}
	compat := o.Compat == connectors.NetThroughput
	if compat {
		o.Streams, o.Fetch = orElse(o.Streams, []int{1}), cmpOr(o.Fetch, 8)
		o.Period, o.Rampup = cmpOr(o.Period, 60*time.Second), cmpOr(o.Rampup, 5*time.Second)
	}
	o.Fetch, o.Period = cmpOr(o.Fetch, noiseRows), cmpOr(o.Period, 10*time.Second)
	p := &prober{server: s, o: o, out: &connectors.Probe{Compat: o.Compat, Fetch: o.Fetch, Notes: []string{}}}
	if err := p.latencies(ctx, compat); err != nil {
		return nil, s.at("probe", err)
	}
	streams := o.Streams
	if streams == nil {
		streams = []int{1}
	}
	best := 0.0
	for i := 0; i < len(streams); i++ {
		run, err := p.run(ctx, streams[i])
		if err != nil {
			return nil, s.at("probe", err)
		}
		p.out.Runs = append(p.out.Runs, *run)
		tell(*run)
		if o.Streams == nil {
			switch {
			case run.Logical >= best*gain:
				p.out.Knee = streams[i]
				best = run.Logical
				if next := 2 * streams[i]; next <= mostStreams {
					streams = append(streams, next)
				}
			}
		}
	}
	return p.out, nil
}

func orElse(v, absent []int) []int {
	if v == nil {
		return absent
	}
	return v
}

func cmpOr[T comparable](v, absent T) T {
	var zero T
	if v == zero {
		return absent
	}
	return v
}

// latencies measures logins and round trips, and makes the query.
func (p *prober) latencies(ctx context.Context, compat bool) error {
	var logins, pings, duals []time.Duration
	var c *conn
	for range 3 {
		c.close()
		began := time.Now()
		var err error
		if c, err = p.server.connect(ctx, p.o.Fetch); err != nil {
			return err
		}
		logins = append(logins, time.Since(began))
	}
	defer c.close()
	for range 100 {
		began := time.Now()
		if err := c.watched(ctx, func() error { return c.Ping(context.WithoutCancel(ctx)) }); err != nil {
			return failure(err)
		}
		pings = append(pings, time.Since(began))
	}
	for range 20 {
		began := time.Now()
		if err := c.all(ctx, sqlDual, 1, func([]driver.Value) error { return nil }); err != nil {
			return err
		}
		duals = append(duals, time.Since(began))
	}
	p.out.ConnectMillis, p.out.PingMillis, p.out.PingMillis99, p.out.StatementMillis = at50(logins), at50(pings), at99(pings), at50(duals)
	var literals []string
	for range noiseColumns {
		l := printable(noiseLiteral)
		if compat {
			if err := c.all(ctx, sqlRandom, 1, func(row []driver.Value) error { l = text(row[0]); return nil }); err != nil {
				return err
			}
		}
		literals = append(literals, l)
	}
	p.query = noiseQuery(literals)
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func at50(all []time.Duration) float64 { return percentile(all, 50) }
func at99(all []time.Duration) float64 { return percentile(all, 99) }

func percentile(all []time.Duration, n int) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return millis(all[min(len(all)*n/100, len(all)-1)])
}

// stream is one connection's share of a run.
type stream struct {
	wire     counters
	ready    bool // by the common start
	queries  int64
	bytes    int64 // of values, with netthroughput's overhead where it is asked for
	rows     int64
	took     time.Duration
	times    []time.Duration
	sent     int64 // by the server, from before the warm-up on for netthroughput, else from behind it
	received int64
	late     time.Duration
	err      error
}

// run measures n streams from a common start on.
func (p *prober) run(ctx context.Context, n int) (*connectors.ProbeRun, error) {
	compat := p.o.Compat == connectors.NetThroughput
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := make(chan time.Time)
	warm := make(chan error, n)
	done := make(chan struct{}, n)
	streams := make([]stream, n)
	began := time.Now()
	appointed := began.Add(p.o.Rampup + time.Duration(n)*500*time.Millisecond)
	for i := range streams {
		go func() {
			defer func() { done <- struct{}{} }()
			if compat { // sessions are taken one after another
				wait(ctx, began.Add(time.Duration(i)*500*time.Millisecond))
			}
			p.stream(ctx, &streams[i], warm, start, appointed)
		}()
	}
	var failed error
	for range n {
		failed = errors.Join(failed, <-warm)
	}
	if failed != nil {
		cancel()
	}
	// Without a ramp-up to keep, all begin as soon as the last one is warm.
	common := time.Now()
	if compat && appointed.After(common) {
		common = appointed
	}
	cpu := usedCPU()
	for range n {
		if failed == nil {
			start <- common
		}
	}
	for range n {
		<-done
	}
	cpu = usedCPU() - cpu
	for i := range streams {
		failed = errors.Join(failed, streams[i].err)
	}
	if failed != nil {
		return nil, failed
	}
	return p.sum(streams, cpu, compat), nil
}

func wait(ctx context.Context, until time.Time) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// stream is one connection: once to warm up, then over and over.
func (p *prober) stream(ctx context.Context, s *stream, warm chan<- error, start <-chan time.Time, appointed time.Time) {
	compat := p.o.Compat == connectors.NetThroughput
	server := *p.server
	server.wire = &s.wire
	c, err := server.connect(ctx, p.o.Fetch)
	if err != nil {
		warm <- err
		return
	}
	defer c.close()
	sent := func() int64 { return p.sent(ctx, c) }
	before, received := sent(), s.wire.in.Load()
	bytes, rows, err := p.once(ctx, c)
	if !compat {
		before, received = sent(), s.wire.in.Load()
	}
	s.late = time.Since(appointed)
	s.ready = s.late <= 0
	warm <- err
	if err != nil {
		return
	}
	var common time.Time
	select {
	case common = <-start:
	case <-ctx.Done():
		return
	}
	wait(ctx, common)
	end := common.Add(p.o.Period)
	for last := common; last.Before(end); {
		b, r, err := p.once(ctx, c)
		if err != nil {
			s.err = err
			return
		}
		now := time.Now()
		s.times = append(s.times, now.Sub(last))
		last, s.took = now, now.Sub(common)
		s.queries++
		if compat {
			b, r = bytes, rows // every query counts as much as the first
		}
		s.bytes, s.rows = s.bytes+b, s.rows+r
	}
	s.received = s.wire.in.Load() - received
	if after := sent(); after >= 0 && before >= 0 {
		s.sent = after - before
	}
}

// once runs the query and counts its values' octets.
func (p *prober) once(ctx context.Context, c *conn) (bytes, rows int64, err error) {
	q, err := c.query(ctx, p.query, noiseColumns, int64(noiseRows))
	if err != nil {
		return 0, 0, failure(err)
	}
	defer q.close(ctx)
	err = q.next(ctx, func(row []driver.Value) (bool, error) {
		rows++
		for _, v := range row {
			bytes += int64(len(text(v)))
		}
		if p.o.Compat == connectors.NetThroughput {
			bytes += rowOverhead
		}
		return true, nil
	})
	if err == io.EOF {
		err = nil
	}
	return bytes, rows, failure(err)
}

// sent is what the server has sent in this session, by its own account; -1 where
// the user may not see it.
func (p *prober) sent(ctx context.Context, c *conn) (n int64) {
	n = -1
	if err := c.all(ctx, sqlSent, 1, func(row []driver.Value) error { n = whole(row[0]); return nil }); err != nil {
		return -1
	}
	return n
}

// sum makes a run's figures of its streams'.
func (p *prober) sum(streams []stream, cpu time.Duration, compat bool) *connectors.ProbeRun {
	r := &connectors.ProbeRun{Streams: len(streams)}
	var times []time.Duration
	var rows, bytes int64
	for i := range streams {
		s := &streams[i]
		took := s.took
		if compat {
			took = p.o.Period
		}
		rate := float64(s.bytes) / 1e9 / took.Seconds()
		if i == 0 || rate < r.Slowest {
			r.Slowest = rate
		}
		r.Fastest = max(r.Fastest, rate)
		r.Logical += rate
		r.Physical += float64(s.sent) / 1e9 / took.Seconds()
		r.Wire += float64(s.received) / 1e9 / took.Seconds()
		r.Queries += s.queries
		r.Sent, r.Received = r.Sent+s.sent, r.Received+s.received
		r.Seconds = max(r.Seconds, took.Seconds())
		times, rows, bytes = append(times, s.times...), rows+s.rows, bytes+s.bytes
		if compat && !s.ready {
			need := p.o.Rampup + s.late + time.Second
			r.Unreliable = fmt.Sprintf("a stream was not ready at the common start: give --rampup %s", need.Round(time.Second))
		}
	}
	r.QueryP50, r.QueryP99 = at50(times), at99(times)
	if rows > 0 {
		p.out.RowBytes = bytes / rows
	}
	if r.Sent == 0 && !p.hidden {
		p.hidden = true
		p.out.Notes = append(p.out.Notes, "what the server sent by its own account is left out: GRANT SELECT ON SYS.V_$MYSTAT and ON SYS.V_$STATNAME to the user")
	}
	r.ClientCPU = 100 * cpu.Seconds() / r.Seconds
	if cores := float64(runtime.NumCPU()); r.ClientCPU >= 80*cores {
		r.Verdict = "the CPU of this machine is the limit"
	} else {
		r.Verdict = "the network or the server is the limit"
	}
	return r
}
