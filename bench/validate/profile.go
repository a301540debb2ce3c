package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"
)

// profileOf compiles a spec in this process and writes where its time, or its
// memory, went.
func profileOf(spec, cpu, mem string) error {
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	reg := all.Registry()
	s, found := lang.Load(spec, lang.Options{Connectors: planner.Connectors(reg)})
	p, more := planner.Compile(context.Background(), s, reg, planner.Options{})
	if found.HasErrors() || p == nil {
		return fmt.Errorf("%s has errors: %v", spec, append(found, more...))
	}
	if mem != "" {
		f, err := os.Create(mem)
		if err != nil {
			return err
		}
		defer f.Close()
		return pprof.Lookup("allocs").WriteTo(f, 0)
	}
	return nil
}
