package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/lower/layout"
)

// compileFlags are the flags of every command that may compile a model.
type compileFlags struct {
	modelFlags
	use      use // of the command
	target   string
	schedule string
	records  string
	backend  string
	effort   int
	disable  []string
	by       []string // LAYER=ALGORITHM
	float    []string
	bits     []string
	json     bool
	verbose  bool
	threads  *int       // of --threads; nil for commands without it
	fold     *foldFlags // nil for commands that make no accelerators
}

// groupAnnotation is the key of a flag's group title.
const groupAnnotation = "ripc_group"

// flagGroup is a group of flags in the help of a command.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagsAddedBy returns the names of the flags that add registers.
func flagsAddedBy(fs *pflag.FlagSet, add func()) []string {
	before := map[string]bool{}
	fs.VisitAll(func(g *pflag.Flag) { before[g.Name] = true })
	add()
	var names []string
	fs.VisitAll(func(g *pflag.Flag) {
		if !before[g.Name] {
			names = append(names, g.Name)
		}
	})
	return names
}

// addGroup calls add and puts the flags that it registers into the group called title.
func addGroup(fs *pflag.FlagSet, title string, add func()) {
	for _, name := range flagsAddedBy(fs, add) {
		_ = fs.SetAnnotation(name, groupAnnotation, []string{title}) // there is such a flag
	}
}

// flagGroups returns the flags of a command by group, those without a group first.
func flagGroups(cmd *cobra.Command) []flagGroup {
	groups := []flagGroup{{title: "Flags"}}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := groups[0].title
		if named := f.Annotations[groupAnnotation]; len(named) > 0 {
			title = named[0]
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, flagGroup{title: title})
		}
		if groups[i].flags == nil {
			groups[i].flags = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[i].flags.SortFlags = false
		}
		groups[i].flags.AddFlag(f)
	})
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return g.flags == nil || !g.flags.HasAvailableFlags() })
}

// register adds the flags to cmd.
func (f *compileFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.target, "target", "", "`TARGET` to compile for, see ripc targets (default host)")
	addGroup(fs, "How the code is made", func() { f.registerCode(fs) })
	addGroup(fs, "How the model is read", func() { f.modelFlags.register(cmd) })
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "say more")
	f.registerCompletions(cmd)
}

func (f *compileFlags) registerCode(fs *pflag.FlagSet) {
	fs.StringVar(&f.schedule, "schedule", "", "`FILE` of schedules: \"layer NAME:\" and steps, one a line")
	fs.StringVar(&f.records, "records", "",
		"`FILE` of records of ripc tune: its schedules and algorithms are taken where no other option says which; "+
			"\"shipped\": the records that come with ripc")
	fs.IntVar(&f.effort, "effort", 0,
		"`N` schedules of each layer are built and run, or simulated, to take the best: those that ripc's model of "+
			"the target takes for good (0: the model is believed)")
	fs.StringVar(&f.backend, "backend", "", "`NAME` of the back end that makes the code: "+strings.Join(ripc.Backends(),
		", ")+" (default: the first that can)")
	fs.StringSliceVar(&f.disable, "disable-pass", nil, "graph `PASS` not to "+
		"run: "+strings.Join(ripc.OptionalPasses(), ", "))
	fs.StringSliceVar(&f.by, "algorithm", nil,
		"`LAYER=ALGORITHM` by which its sums are to be computed, instead of the one that is predicted to cost "+
			"least: "+strings.Join(algorithmNames(), ", "))
	fs.StringSliceVar(&f.float, "float", nil, "`LAYER` to compute in floats; may be repeated")
	fs.StringSliceVar(&f.bits, "bitserial", nil, "`LAYER` to compute by counting bits, in the cheapest way that "+
		"does; may be repeated")
}

// options checks the flags for the model or artifact at path.
func (f *compileFlags) options(path string) (ripc.Options, error) {
	o := ripc.Options{Target: f.target, Disable: f.disable, Backend: f.backend}
	if n := f.threads; n != nil && (*n < 1 || *n > maxThreads) {
		return o, usagef("--threads %d: 1 to %d are possible", *n, maxThreads)
	}
	if err := f.checkFPGA(); err != nil {
		return o, err
	}
	if ripc.IsArtifact(path) {
		if given := f.givenFlags(); len(given) > 0 {
			return o, usagef("%s is compiled already: %s needs a model", path, given[0])
		}
		if f.schedule != "" || f.records != "" || f.effort != 0 || f.backend != "" ||
			len(f.disable)+len(f.by)+len(f.float)+len(f.bits) > 0 {
			return o, usagef("%s is compiled already: --schedule, --records, --effort, --backend, --disable-pass, "+
				"--algorithm, --float and --bitserial need a model", path)
		}
		return o, nil
	}
	if f.effort < 0 {
		return o, usagef("--effort %d: it is a number of schedules, 0 or more", f.effort)
	}
	if f.effort > 0 {
		p := &progress{w: stderr(), next: time.Now().Add(linePeriod)}
		o.Effort, o.Tried = f.effort, p.showTried
	}
	for _, p := range f.disable {
		if !slices.Contains(ripc.OptionalPasses(), p) {
			return o, usagef("--disable-pass %s: the passes that can be left out are %s", p,
				strings.Join(ripc.OptionalPasses(), ", "))
		}
	}
	err := f.algorithms(&o)
	if err == nil {
		err = f.fill(&o)
	}
	if err == nil && f.schedule != "" {
		o.Schedules, err = ripc.ReadSchedule(f.schedule)
	}
	if err == nil && f.records != "" && !ripc.IsFPGA(f.target) {
		o, err = ripc.WithRecords(o, f.records, recordNotes(stderr(), f.records))
	}
	return o, err
}

// algorithms puts the algorithms asked for into o.
func (f *compileFlags) algorithms(o *ripc.Options) error {
	o.Algorithms = map[string]layout.Algorithm{}
	ask := func(layer string, by layout.Algorithm) error {
		if before, ok := o.Algorithms[layer]; ok && before != by {
			return usagef("layer %q cannot be computed both by %s and by %s", layer, before, by)
		}
		o.Algorithms[layer] = by
		return nil
	}
	var errs []error
	for _, pair := range f.by {
		layer, name, ok := cutLast(pair, "=")
		by, err := layout.ParseAlgorithm(name)
		if !ok || err != nil {
			return usagef("--algorithm %s: it takes LAYER=ALGORITHM, one of %s", pair,
				strings.Join(algorithmNames(), ", "))
		}
		errs = append(errs, ask(layer, by))
	}
	for _, layer := range f.float {
		errs = append(errs, ask(layer, layout.Float))
	}
	for _, layer := range f.bits {
		if by, ok := o.Algorithms[layer]; ok && by == layout.Float {
			errs = append(errs, usagef("layer %q cannot be computed both by %s and by counts of bits", layer, by))
		}
	}
	o.Bitserial = f.bits
	return cmp.Or(errs...)
}

// cutLast is strings.Cut at the last sep, as names of layers may have sep too.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func algorithmNames() []string {
	var names []string
	for _, a := range layout.Algorithms() {
		names = append(names, a.String())
	}
	return names
}

// threadsFlag adds --threads, which options checks.
func (f *compileFlags) threadsFlag(cmd *cobra.Command, n *int) {
	f.threads = n
	cmd.Flags().IntVar(n, "threads", 1, "number of threads")
}

// onFlag adds --on.
func onFlag(cmd *cobra.Command, on *string) {
	cmd.Flags().StringVar(on, "on", "", "`ssh:USER@HOST[:PORT]` of the machine to run compiled code on; it needs "+
		"nothing but sshd")
}

// maxThreads bounds --threads; simulation allows fewer and says so.
const maxThreads = 256
