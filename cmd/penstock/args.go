package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// one wants one argument and says what it is.
func one(what, example string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s takes %s, for example: %s", c.Name(), what, example)
		case 1:
			return nil
		}
		return fmt.Errorf("%s takes %s, one at a time; these are %d: %s", c.Name(), what, len(args), strings.Join(args, " "))
	}
}

// complete offers files of these extensions, and folders, for the one argument.
func complete(extensions ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// mustComplete takes the error of a flag that is not defined.
func mustComplete(err error) {
	if err != nil {
		panic(err)
	}
}

// refuseShells makes a shell that there is no completion for an error; it would
// show the help and succeed.
func refuseShells(completion *cobra.Command) {
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var shells []string
		for _, s := range c.Commands() {
			shells = append(shells, s.Name())
		}
		return fmt.Errorf("there is no completion for %q; there is for %s", args[0], strings.Join(shells, ", "))
	}
}
