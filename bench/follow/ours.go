package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/change"
	"penstock/internal/event"
	"penstock/runtime/stream"
)

// lanes of the target.
const lanes = 4

// follow reads a slot to a place in the log. args: the server's socket, the
// slot, the place, and what becomes of the changes.
func follow(ctx context.Context, args []string) error {
	socket, name, place, into := args[0], args[1], args[2], args[3]
	def := postgres.Definition()
	connection := postgres.Connection{Host: socket, Port: 5432, Database: source, User: postgrestest.User}
	opened, err := def.Source.Open(ctx, &postgres.SourceConfig{Connection: connection, Schema: "public", Slot: name, Publication: slot}, connectors.Env{Pipeline: "follow"})
	if err != nil {
		return err
	}
	defer opened.Close()
	src := opened.(connectors.ChangeSource)
	cat, err := src.Catalog(ctx)
	if err != nil {
		return err
	}
	s := connectors.ChangeStream{Pipeline: "follow"}
	for i := range cat.Tables {
		if t := &cat.Tables[i]; slices.Contains(tables, t.Name.Name) {
			s.Tables = append(s.Tables, connectors.ChangeTable{Table: t, Key: t.DefaultKey()})
		}
	}
	until, err := def.Source.Changes.ParsePosition(place)
	if err != nil {
		return err
	}
	start, err := src.PrepareChanges(ctx, s)
	if err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var n int64
	if into == "discard" {
		n, err = discard(ctx, src, s, start, until)
	} else {
		connection.Database = "target"
		n, err = apply(ctx, def, connection, src, s, start, until)
	}
	runtime.ReadMemStats(&after)
	fmt.Printf("changes=%d allocs=%g\n", n, float64(after.Mallocs-before.Mallocs)/float64(max(n, 1)))
	return err
}

// discard reads each change and forgets it.
func discard(ctx context.Context, src connectors.ChangeSource, s connectors.ChangeStream, start connectors.Checkpoint, until change.Position) (n int64, err error) {
	r, err := src.OpenChanges(ctx, s, start)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		b, err := r.Read(ctx)
		if err != nil {
			return n, err
		}
		n += int64(len(b.Changes))
		done := b.Through.Compare(until) >= 0
		b.Release()
		if done {
			return n, nil
		}
	}
}

// apply carries the changes into another database by lanes.
func apply(ctx context.Context, def *connectors.Definition, at postgres.Connection, src connectors.ChangeSource, s connectors.ChangeStream, start connectors.Checkpoint, until change.Position) (n int64, err error) {
	target, err := def.Target.Open(ctx, &postgres.TargetConfig{Connection: at, Schema: "public", Triggers: "fire"}, connectors.Env{Pipeline: "follow"})
	if err != nil {
		return 0, err
	}
	defer target.Close()
	if _, err := target.Claim(ctx, connectors.Owner{Run: "bench"}); err != nil {
		return 0, err
	}
	o := stream.Options{
		Pipeline: "follow", Target: target.(connectors.ApplyTarget), Mode: "array", Rows: 10_000, Linger: 50 * time.Millisecond, Memory: 128 << 20, Idle: 10 * time.Second,
		Route: stream.Route{Order: stream.ByKey, Lanes: lanes}, Until: until, Events: event.Discard,
		Open: func(ctx context.Context, c connectors.Checkpoint) (connectors.ChangeReader, error) {
			return src.OpenChanges(ctx, s, c)
		},
		Retry: func(_ context.Context, _ int, err error) error { return err }, // nothing breaks in a measurement
	}
	for _, t := range s.Tables {
		st := connectors.StreamTable{Source: t.Table, Target: t.Table.Name}
		for i, c := range t.Table.Columns {
			st.Columns = append(st.Columns, connectors.TargetColumn{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
			if slices.Contains(t.Key, c.Name) {
				st.Key = append(st.Key, i)
			}
		}
		o.Tables = append(o.Tables, st)
	}
	if o.At, err = o.Target.Checkpoints(ctx, lanes, start); err != nil {
		return 0, err
	}
	ended, err := stream.Run(ctx, o)
	for _, c := range ended {
		n += c.Changes
	}
	return n, err
}
