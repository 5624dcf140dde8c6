package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/targets"
)

// compileFlags are those of every command that may compile a model.
type compileFlags struct {
	modelFlags
	target   string
	schedule string
	backend  string
	disable  []string
	float    []string
	bits     []string
	json     bool
	verbose  bool
}

// register adds the flags to cmd.
func (f *compileFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.target, "target", "", "machine to compile for, see ripc targets (default host)")
	fs.StringVar(&f.schedule, "schedule", "", "file of schedules: \"func KERNEL:\" and steps, one a line")
	fs.StringVar(&f.backend, "backend", "", "what makes the code: "+strings.Join(ripc.Backends(), ", ")+" (default: the first that can)")
	fs.StringSliceVar(&f.disable, "disable-pass", nil, "graph pass not to run: "+strings.Join(ripc.OptionalPasses(), ", "))
	fs.StringSliceVar(&f.float, "float", nil, "layers whose sums are to be computed in f32, instead of\nwhat costs less by estimate")
	fs.StringSliceVar(&f.bits, "bitserial", nil, "layers whose sums are to be counted in bits, likewise")
	f.modelFlags.register(cmd)
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "say more on standard error")
	complete(cmd, "target", targetNames)
	complete(cmd, "backend", ripc.Backends)
	complete(cmd, "disable-pass", ripc.OptionalPasses)
}

// complete offers names to the shell for a flag.
func complete(cmd *cobra.Command, flag string, names func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
}

func targetNames() []string {
	var names []string
	for _, t := range targets.All() {
		names = append(names, t.Name)
	}
	return names
}

// options checks the flags for the model or artifact at path.
func (f *compileFlags) options(path string) (ripc.Options, error) {
	o := ripc.Options{Target: f.target, Disable: f.disable, Float: f.float, Bitserial: f.bits, Backend: f.backend}
	if ripc.IsArtifact(path) {
		if given := f.given(); len(given) > 0 {
			return o, usagef("%s is compiled already: %s needs a model", path, given[0])
		}
		if f.schedule != "" || f.backend != "" || len(f.disable)+len(f.float)+len(f.bits) > 0 {
			return o, usagef("%s is compiled already: --schedule, --backend, --disable-pass, --float and --bitserial need a model", path)
		}
		return o, nil
	}
	for _, p := range f.disable {
		if !slices.Contains(ripc.OptionalPasses(), p) {
			return o, usagef("--disable-pass %s: the passes that can be left out are %s", p, strings.Join(ripc.OptionalPasses(), ", "))
		}
	}
	err := f.fill(&o)
	if err == nil && f.schedule != "" {
		o.Traces, err = ripc.ReadSchedule(f.schedule)
	}
	return o, err
}

// threadsFlag adds --threads.
func threadsFlag(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "threads", 1, "number of threads")
}

// maxThreads bounds --threads; simulation allows fewer and says so.
const maxThreads = 256

func checkThreads(n int) error {
	if n < 1 || n > maxThreads {
		return usagef("--threads %d: 1 to %d are possible", n, maxThreads)
	}
	return nil
}
