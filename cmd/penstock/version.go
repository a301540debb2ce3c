package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"penstock/planner/plan"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release; a build from a checkout says its commit.
var version = ""

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the plan format and the connectors",
		Example: "  penstock version --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// versionDocument is what version writes.
type versionDocument struct {
	head
	Version    string   `json:"version"`
	Go         string   `json:"go"`                  // the version of Go that built it
	PlanFormat int      `json:"plan_format_version"` // of the plans that it writes and runs
	Connectors []string `json:"connectors"`          // their kinds
}

func (a *app) printVersion() error {
	v, kinds := buildVersion(), a.registry.Kinds()
	if a.json {
		return a.writeJSON(versionDocument{newHead("version"), v, goVersion(), plan.FormatVersion, kinds})
	}
	_, err := fmt.Fprintf(a.stdout, "penstock %s (%s)\nplan format %d\nconnectors: %s\n", v, goVersion(), plan.FormatVersion, strings.Join(kinds, ", "))
	return err
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "devel " + s.Value[:12]
			}
		}
	}
	return "devel"
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown Go"
}
