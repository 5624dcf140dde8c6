package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/importer"
	"ripc/lower/layout"
	"ripc/targets"
)

// completion offers values for a flag or an argument to the shell.
type completion = cobra.CompletionFunc

// offersOfShell returns the completions of files and of folders.
func offersOfShell() (files, folders completion) {
	return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
}

// offerFilesOf offers files by their extensions.
func offerFilesOf(extensions ...string) completion {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// offerNames offers names.
func offerNames(names func() []string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// offerLists offers names for a list with commas: those that the list lacks, after the typed text.
func offerLists(names func() []string) completion {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var lists []string
		for _, n := range names() {
			if !slices.Contains(strings.Split(before, ","), n) {
				lists = append(lists, before+n)
			}
		}
		return lists, cobra.ShellCompDirectiveNoFileComp
	}
}

// Extensions of files: of inputs, of models, and of everything that runs.
func picturesAndTensors() []string { return []string{"npy", "png", "jpg", "jpeg"} }
func models() []string             { return []string{"json", "onnx", "pt2", "tflite"} }
func libraries() []string          { return append(models(), "so") }

// flagCompletions has the completions of flags, by their names or, if commands differ, by
// "COMMAND NAME". Other flags take numbers and names, which the shell cannot know.
// compileFlags.registerCompletions has those that depend on other flags.
func flagCompletions() map[string]completion {
	offerFiles, offerFolders := offersOfShell()
	return map[string]completion{
		"compare": offerFilesOf("json"), "expect": offerFilesOf("npy"), "input": offerFilesOf(picturesAndTensors()...),
		"key":         offerFiles,
		"eval labels": offerFilesOf("npy"), "run labels": offerFiles, "records": offerFiles, "schedule": offerFiles,
		"so": offerFilesOf("so"), "dir": offerFolders,

		"compile output": offerFiles, "curve output": offerFilesOf("svg"), "import output": offerFilesOf("json"),
		"importance output": offerFilesOf("svg"),
		"inspect output":    offerFilesOf("svg"), "interp output": offerFolders, "keys output": offerFiles,
		"merge output": offerFiles, "prune output": offerFiles,
		"report output": offerFilesOf("html"), "run output": offerFolders,

		"disable-pass": offerLists(ripc.OptionalPasses), "engine": offerNames(engines),
		"print-after": offerLists(ripc.Stages), "sign-zero": offerNames(func() []string {
			return []string{"+1", "-1"}
		}),
		"bench sort": offerNames(benchOrders), "inspect sort": offerNames(inspectOrders),
		"tuner":    offerNames(ripc.Searches),
		"simulate": offerNames(simulatedTargets),
	}
}

// argCompletions has two completions for each command: of the first argument and of the later ones.
// Other commands take no arguments.
func argCompletions() map[string][2]completion {
	offerFiles, offerFolders := offersOfShell()
	return map[string][2]completion{
		"compile": {offerFilesOf(models()...)}, "import": {offerFilesOf(models()...)},
		"tune": {offerFilesOf(models()...)}, "verify": {offerFilesOf(models()...)},
		"interp": {offerFilesOf("ripir")}, "bench": {offerFilesOf(libraries()...)},
		"eval": {offerFilesOf(libraries()...)}, "inspect": {offerFilesOf(libraries()...)},
		"report": {offerFilesOf(libraries()...)}, "run": {offerFilesOf(libraries()...),
			offerFilesOf(picturesAndTensors()...)},
		"records": {offerFiles, offerFiles}, "merge": {offerFiles, offerFiles},
		"curve": {offerFiles, offerFiles}, "prune": {offerFiles}, "importance": {offerFiles},
		"man": {offerFolders}, "keys": {offerNames(func() []string { return []string{"worker", "tuner"} })},
	}
}

// registerCompletions adds completions to the flags and arguments of all commands below root.
func registerCompletions(root *cobra.Command) {
	flags, arguments := flagCompletions(), argCompletions()
	for _, c := range allCommands(root) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, known := c.GetFlagCompletionFunc(f.Name); known {
				return
			}
			offer := cobra.NoFileCompletions
			for _, name := range []string{f.Name, c.Name() + " " + f.Name} {
				if own := flags[name]; own != nil {
					offer = own
				}
			}
			registerCompletion(c, f.Name, offer)
		})
		if c.ValidArgsFunction == nil && c.Runnable() && c != root {
			offers := arguments[c.Name()]
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string,
				cobra.ShellCompDirective) {
				if offer := offers[min(len(args), 1)]; offer != nil {
					return offer(cmd, args, typed)
				}
				return cobra.NoFileCompletions(cmd, args, typed)
			}
		}
	}
}

func registerCompletion(cmd *cobra.Command, flag string, offer completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic("BUG: " + err.Error())
	}
}

// simulatedTargets lists the targets that a worker can simulate kernels for.
func simulatedTargets() []string {
	return targetNames(func(t targets.Target) bool { return slices.Contains(ripc.TuneRunnersFor(t), "qemu") })
}

// targetNames lists the targets that accepts takes. It has "host" only on machines that ripc knows.
func targetNames(accepts func(t targets.Target) bool) []string {
	var names []string
	for _, t := range targets.All() {
		if accepts(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// registerCompletions offers [INPUT=]VALUE for flags that depend on the model. Once there is a
// model, it offers only values with which the model can be read.
func (f *modelFlags) registerCompletions(cmd *cobra.Command) {
	for flag, values := range map[string][]string{"input-layout": {"nhwc", "nchw"},
		"input-type": {importer.U8, importer.F32}} {
		registerCompletion(cmd, flag, func(cmd *cobra.Command, args []string, typed string) ([]string,
			cobra.ShellCompDirective) {
			before := typed[:strings.LastIndexByte(typed, '=')+1]
			var accepted []string
			for _, v := range values {
				with := *f
				switch flag {
				case "input-layout":
					with.layouts = append(slices.Clone(f.layouts), before+v)
				case "input-type":
					with.types = append(slices.Clone(f.types), before+v)
				}
				var o ripc.Options
				err := with.fill(&o)
				if err == nil && len(args) > 0 {
					_, err = ripc.Applying(cmd.Context(), args[0], o)
				}
				if err == nil {
					accepted = append(accepted, before+v)
				}
			}
			return accepted, cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// use says how a command uses a model for a target.
type use int

const (
	runs     use = iota // runs its code
	writes              // writes its files
	looks               // builds its programs alone
	measures            // measures its kernels
)

// registerCompletions offers values of cmd's flags that fit the other flags given.
func (f *compileFlags) registerCompletions(cmd *cobra.Command) {
	registerCompletion(cmd, "target", offerNames(f.acceptedTargets))
	registerCompletion(cmd, "backend", offerNames(f.acceptedBackends))
	for flag, ask := range map[string]func(layer string, applying []layout.Algorithm) []string{
		"algorithm": func(layer string, applying []layout.Algorithm) []string {
			var pairs []string
			for _, a := range applying {
				pairs = append(pairs, layer+"="+a.String())
			}
			return pairs
		},
		"float":     layersWith(func(a layout.Algorithm) bool { return a == layout.Float }),
		"bitserial": layersWith(layout.Algorithm.Counts),
	} {
		registerCompletion(cmd, flag, func(cmd *cobra.Command, args []string, typed string) ([]string,
			cobra.ShellCompDirective) {
			return offerLists(func() []string { return f.algorithmValues(cmd, args, ask) })(cmd, args, typed)
		})
	}
	if cmd.Flags().Lookup("layer") != nil {
		registerCompletion(cmd, "layer", f.offerLayers)
	}
	if cmd.Flags().Lookup("runner") != nil {
		registerCompletion(cmd, "runner", offerNames(f.acceptedRunners))
	}
}

// layersWith offers a layer if one of its algorithms fits.
func layersWith(fits func(layout.Algorithm) bool) func(layer string, applying []layout.Algorithm) []string {
	return func(layer string, applying []layout.Algorithm) []string {
		if slices.ContainsFunc(applying, fits) {
			return []string{layer}
		}
		return nil
	}
}

// acceptedRunners lists the runners of this machine that measure kernels for the target.
func (f *compileFlags) acceptedRunners() []string {
	t, err := targets.Lookup(cmp.Or(f.target, targets.HostName))
	if err != nil {
		return nil
	}
	return ripc.TuneRunnersFor(t)
}

// offerLayers offers the layers of the model, unless a flag is given that --layer excludes.
func (f *compileFlags) offerLayers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	for _, name := range []string{"per-layer", "memory", "so", "input"} {
		if cmd.Flags().Changed(name) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return f.layerNames(cmd, args), cobra.ShellCompDirectiveNoFileComp
}

// algorithmValues returns the values of ask for all layers without an algorithm from another flag.
func (f *compileFlags) algorithmValues(cmd *cobra.Command, args []string,
	ask func(layer string, applying []layout.Algorithm) []string) []string {
	o, ok := f.modelOptions(args)
	if !ok {
		return nil
	}
	layers, err := ripc.Applying(cmd.Context(), args[0], o)
	if err != nil {
		return nil
	}
	var all []string
	for _, layer := range slices.Sorted(maps.Keys(layers)) {
		if _, asked := o.Algorithms[layer]; !asked && !slices.Contains(o.Bitserial, layer) {
			all = append(all, ask(layer, layers[layer])...)
		}
	}
	return all
}

// layerNames lists the stages of the model or artifact on the command line.
func (f *compileFlags) layerNames(cmd *cobra.Command, args []string) []string {
	o, ok := f.modelOptions(args)
	if !ok {
		return nil
	}
	in, err := ripc.Inspect(cmd.Context(), args[0], o, "", false)
	if err != nil {
		return nil
	}
	var names []string
	for _, l := range in.Layers {
		names = append(names, l.Names(l.Name)...)
	}
	return names
}

// modelOptions returns the options for the model on the command line. ok is false without a model,
// or if the options contradict each other.
func (f *compileFlags) modelOptions(args []string) (o ripc.Options, ok bool) {
	if len(args) == 0 {
		return o, false
	}
	o = ripc.Options{Target: f.target, Disable: f.disable, Backend: f.backend}
	err := cmp.Or(f.algorithms(&o), f.fill(&o))
	return o, err == nil
}

// acceptedTargets lists the targets for which the command and its back end have code.
func (f *compileFlags) acceptedTargets() []string {
	return targetNames(func(t targets.Target) bool {
		backends := f.backendsFor(t.Name)
		if len(backends) == 0 || f.backend != "" && !slices.Contains(backends, f.backend) {
			return false
		}
		switch f.use {
		case measures:
			return len(ripc.TuneRunnersFor(t)) > 0
		case runs:
			return runsBy(t) != notHere
		}
		return true
	})
}

// acceptedBackends lists the back ends that fit the command and its target.
func (f *compileFlags) acceptedBackends() []string { return f.backendsFor(f.target) }

// backendsFor lists the back ends that fit the command and a target; none if the target is unknown.
func (f *compileFlags) backendsFor(target string) []string {
	if f.use == measures {
		return []string{ripc.TuneBackend(target)}
	}
	var names []string
	for _, b := range ripc.Backends() {
		var accepted []string
		var err error
		switch f.use {
		case runs:
			accepted, err = ripc.BackendsFor(target, ripc.Runnable)
		case writes:
			accepted, err = ripc.BackendsFor(target, ripc.DefaultEmit(target, b)[0])
		default:
			accepted, err = ripc.BackendsFor(target)
		}
		if err == nil && slices.Contains(accepted, b) {
			names = append(names, b)
		}
	}
	return names
}

// acceptedKinds lists the kinds of files that the given back end, or any, makes for the target.
func (f *compileFlags) acceptedKinds() []string {
	var names []string
	for _, name := range ripc.EmitKinds() {
		kinds, err := ripc.ParseEmit(name)
		if err != nil {
			continue
		}
		accepted, err := ripc.BackendsFor(f.target, kinds...)
		made := err == nil && len(accepted) > 0 && (f.backend == "" || slices.Contains(accepted, f.backend))
		if kinds[0].OfAll() || made {
			names = append(names, name)
		}
	}
	return names
}
