package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/graph"
	"ripc/internal/human"
	"ripc/lower/layout"
	"ripc/targets"
)

type compileOptions struct {
	compileFlags
	prefix     string
	emit       string
	noDescribe bool
	strict     bool
	timePasses bool
	printAfter []string
}

func compileCommand() *cobra.Command {
	o := compileOptions{compileFlags: compileFlags{use: writes}}
	cmd := &cobra.Command{
		Use:   "compile MODEL [flags]",
		Short: "Compile a model to a library and its header",
		Long: `Compile a model to PREFIX.so and PREFIX.h, or to the kinds of files that --emit lists:

  so     shared library      a      static library     h  C header of these
  o      relocatable object  ll     LLVM IR            s  assembly
  c      one file of C99     ripir  the scheduled program in ripc's own IR
  hpp    C++ header          rs     constants of Rust  zip   C library
  wasm   module              npm    package            html  page
  ripc   a bundle for devices; cl, ptx and wgsl are its kernels alone

For chips without an operating system the default is PREFIX.c and PREFIX.h, for devices
PREFIX.ripc. For boards with an FPGA the kinds are v, h, c and bit, in a folder PREFIX.
Files appear together when everything is done, or not at all. With --print-after none are
written unless --emit or -o asks for them; -o - prints one kind of text.`,
		Example: `  ripc compile examples/digits/digits.json --target rpi3 -o build/digits
  ripc compile net.onnx --strict
  ripc compile digits.json --print-after lower`,
		Args: argCount(1, 1, "one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.prefix, "output", "o", "", "path of the files without their extension (default the model's "+
		"name), or - for standard output")
	fs.StringVar(&o.emit, "emit", "", "kinds of files, separated by commas (default \"so,h\", where there are "+
		"no libraries \"c,h\", \"ripc\" or \"v,h\")")
	fs.BoolVar(&o.noDescribe, "no-describe", false,
		"leave the description out: a few KiB less, but only programs that were written for the network can load it "+
			"(not run, bench, inspect, runtime.Load)")
	fs.BoolVar(&o.strict, "strict", false,
		"fail, naming each, if glue between binary layers stays float, or convolutions of few-bit weights or "+
			"activations do")
	fs.BoolVar(&o.timePasses, "time-passes", false, "print how long each stage took")
	fs.StringSliceVar(&o.printAfter, "print-after", nil, "print the result of a "+
		"stage: "+strings.Join(ripc.Stages(), ", "))
	o.foldFlags(cmd)
	o.register(cmd)
	registerCompletion(cmd, "emit", offerLists(o.acceptedKinds))
	return cmd
}

func (o *compileOptions) run(cmd *cobra.Command, path string) error {
	if ripc.IsArtifact(path) {
		return usagef("%s is compiled already; give a model", path)
	}
	for _, s := range o.printAfter {
		if !slices.Contains(ripc.Stages(), s) {
			return usagef("--print-after %s: the stages are %s", s, strings.Join(ripc.Stages(), ", "))
		}
	}
	opt, err := o.options(path)
	if err != nil {
		return err
	}
	if ripc.IsFPGA(o.target) {
		opt.Strict = o.strict
		return o.accelerate(cmd, path, opt)
	}
	kinds := ripc.DefaultEmit(o.target, o.backend)
	switch {
	case cmd.Flags().Changed("emit"):
		if kinds, err = ripc.ParseEmit(o.emit); err != nil {
			return usagef("--emit: %v", err)
		}
		if o.target == "" && o.backend == "" {
			o.target = ripc.DefaultTarget(kinds)
			opt.Target = o.target
		}
	case len(o.printAfter) > 0 && o.prefix == "": // no files, unless asked for
		kinds = nil
	}
	opt.Strict, opt.Emit, opt.NoDescribe = o.strict, kinds, o.noDescribe
	if slices.Contains(o.printAfter, "codegen") {
		opt.Emit = append(slices.Clone(kinds), ripc.CodeText(o.target, o.backend))
	}
	toStdout := o.prefix == "-"
	device, _ := targets.Lookup(o.target)
	switch {
	case o.noDescribe && device.IsDevice():
		return usagef("--no-describe: files for %s need the description, which says how kernels are launched", o.target)
	case toStdout && (len(kinds) != 1 || !slices.Contains(texts(), string(kinds[0]))):
		return usagef("--output -: standard output takes one kind of text: --emit with one of %s",
			strings.Join(texts(), ", "))
	case toStdout && (o.json || len(o.printAfter) > 0):
		return usagef("--output -: --json and --print-after print to standard output themselves")
	}
	var exts []string
	for _, k := range kinds {
		exts = append(exts, k.Ext())
	}
	// Other compilers take -o PREFIX.so; the files are PREFIX.so and PREFIX.h all the same.
	switch ext := strings.TrimPrefix(filepath.Ext(o.prefix), "."); {
	case slices.Contains(exts, ext):
		o.prefix = strings.TrimSuffix(o.prefix, "."+ext)
	case slices.Contains(ripc.EmitKinds(), ext):
		return usagef("--output %s: give --emit %s for such a file", o.prefix, ext)
	}
	if !toStdout && len(kinds) > 0 {
		undo, err := checkPlaces(o.prefix, exts)
		if err != nil {
			return err
		}
		defer undo()
	}
	// With --print-after, --json or --output -, standard output has nothing else.
	summary := cmd.OutOrStdout()
	if len(o.printAfter) > 0 || toStdout {
		summary = stderr()
	}
	printed := cmd.OutOrStdout()
	if o.json {
		printed = stderr()
	}
	opt.Observe = func(stage string, text func() string) {
		if slices.Contains(o.printAfter, stage) {
			fmt.Fprintf(printed, "# after %s\n%s\n", stage, strings.TrimRight(text(), "\n"))
		}
	}
	p := newProgress()
	opt.Progress = func(done, total int) { p.step(done, total, "compiling kernels") }
	opt.Tried = p.showTried
	start := time.Now()
	c, err := ripc.Compile(cmd.Context(), path, opt)
	p.done()
	if err != nil {
		return err
	}
	prefix := o.prefix
	if prefix == "" {
		prefix = fileName(c)
	}
	res := newCompileResult(c)
	for _, k := range kinds {
		res.Files[string(k)] = fileResult{prefix + "." + k.Ext(), len(c.Files[k])}
	}
	if toStdout {
		if _, err := rawWriter(cmd.OutOrStdout()).Write(c.Files[kinds[0]]); err != nil {
			return err
		}
	} else {
		if err := c.Write(prefix, kinds...); err != nil {
			return err
		}
		for _, k := range kinds {
			res.order = append(res.order, string(k))
		}
	}
	if len(exts) > 0 && !slices.Equal(exts, []string{"ripir"}) {
		res.Functions = c.Functions()
	}
	res.Seconds = time.Since(start).Seconds()
	if o.timePasses || o.verbose {
		for _, t := range res.Times {
			fmt.Fprintf(stderr(), "%-12s %9.3f ms\n", t.Stage, 1e3*t.Seconds)
		}
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), res)
	}
	res.print(summary, widthOf(summary, false), o.verbose)
	return nil
}

// texts lists the kinds of files that can be printed.
func texts() []string {
	return []string{"h", "hpp", "rs", "ll", "s", "c", "cl", "ptx", "wgsl", "ripir"}
}

// longestName is the largest length of a file's name in bytes, less room for an extension.
const longestName = 240

// fileName returns the default name of a network's files: the model's name if a file in this folder
// can have it.
func fileName(c *ripc.Compiled) string {
	name := filepath.Base(c.Graph.Name)
	if strings.HasPrefix(name, ".") || strings.ContainsRune(name, filepath.Separator) {
		name = c.Prefix()
	}
	return strings.ToValidUTF8(name[:min(len(name), longestName)], "")
}

// compileResult is the result for --json.
type compileResult struct {
	Model       string                `json:"model"`
	Functions   []string              `json:"functions,omitempty"` // of the code
	Target      string                `json:"target"`
	Files       map[string]fileResult `json:"files"` // by kind
	Stages      int                   `json:"stages"`
	Binary      int                   `json:"binary_layers"`
	Integers    int                   `json:"integer_layers"` // of weights of 8 bits
	Float       []string              `json:"float_layers"`   // with reasons; with binary layers that return f32
	Roundings   []ripc.Rounding       `json:"roundings,omitempty"`
	Computed    []string              `json:"not_counted"` // binary layers not by popcount, and why
	MACs        int64                 `json:"macs"`
	BinaryMACs  int64                 `json:"binary_macs"`
	IntegerMACs int64                 `json:"integer_macs"`
	WeightBytes int64                 `json:"weight_bytes"`
	ripc.Workspace
	Seconds    float64        `json:"seconds"`
	Times      []stageSeconds `json:"times"`
	order      []string
	f32Sums    int      // binary layers in Float
	layers     []string // convolutions and dense layers in Float
	changeable []string // layers of Float that a change or an option would make bits
	fewBits    bool     // a layer has weights of few bits, or nearly so
	in         *ripc.Inspection
}

type fileResult struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

type stageSeconds struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
}

// newCompileResult describes c, without its files.
func newCompileResult(c *ripc.Compiled) *compileResult {
	in := ripc.InspectCompiled(c)
	r := &compileResult{Model: c.Graph.Name, Target: c.Target.Name, Files: map[string]fileResult{},
		Stages: len(in.Layers), Float: []string{}, Computed: []string{},
		Binary: in.Bitserial, Integers: in.Integers, MACs: in.MACs, BinaryMACs: in.BinaryMACs,
		IntegerMACs: in.IntegerMACs,
		WeightBytes: in.WeightBytes, Roundings: in.Roundings, Workspace: in.Workspace, in: in}
	for _, t := range c.Times {
		r.Seconds += t.Took.Seconds()
		r.Times = append(r.Times, stageSeconds{t.Stage, t.Took.Seconds()})
	}
	for _, l := range r.in.Layers {
		binary, why := l.Kind == graph.Binary.String(), reasonText(l)
		f32Sums := binary && why != "" && len(l.Writes) > 0 && l.Writes[0].DType == "f32"
		if f32Sums {
			r.f32Sums++
		}
		r.fewBits = r.fewBits || l.MACs > 0 && (l.WeightBits < 32 || l.Reason != nil && l.Reason.Args.WeightBits > 0)
		if by, err := layout.ParseAlgorithm(l.Algorithm); binary && (err != nil || !by.Counts()) {
			r.Computed = append(r.Computed, l.Name+" ("+l.Op+"): "+l.Why.Text)
		}
		if f32Sums || l.Kind == graph.Float.String() || l.Kind == graph.Glue.String() {
			text := l.Name + " (" + l.Op + ")"
			if why != "" {
				text += ": " + why
			}
			r.Float = append(r.Float, text)
			if l.MACs > 0 {
				r.layers = append(r.layers, text)
			}
			if l.Changeable {
				r.changeable = append(r.changeable, text)
			}
		}
	}
	return r
}

// print prints the result in lines of at most width characters; 0 is no limit. In full it also
// prints the algorithms, the time and the functions.
func (r *compileResult) print(w io.Writer, width int, full bool) {
	line := func(indent int, format string, args ...any) {
		fmt.Fprintln(w, wrap(fmt.Sprintf(format, args...), width, indent))
	}
	head := fmt.Sprintf("%s for %s: %s, %s", r.Model, r.Target, human.Count(r.Stages, "stage"),
		human.Count(r.Binary, "binary layer"))
	if r.Integers > 0 {
		head += fmt.Sprintf(", %d integer", r.Integers)
	}
	if r.f32Sums > 0 {
		head += fmt.Sprintf(" (%d with float sums)", r.f32Sums)
	}
	head += fmt.Sprintf(", %d float", len(r.Float)-r.f32Sums)
	if r.MACs > 0 {
		head += fmt.Sprintf("; %s of %s MACs are binary", percent(shareOf(r.BinaryMACs, r.MACs)), countText(r.MACs))
		if r.IntegerMACs > 0 {
			head += fmt.Sprintf(", %s integer", percent(shareOf(r.IntegerMACs, r.MACs)))
		}
	}
	line(0, "%s", head)
	for _, f := range r.changeable {
		line(2, "stays float: %s", f)
	}
	switch rest := len(r.Float); {
	case len(r.changeable) > 0 || rest == 0:
	case r.Binary+r.Integers == 0 && !r.fewBits:
		line(2, "%d of %d stages float: the model has no binary weights", rest, r.Stages)
	case r.Binary+r.Integers > 0:
		line(2, "fine: no float layer has weights or inputs of at most %d bits", graph.FewBitsMost)
	default:
		for _, f := range r.layers {
			line(2, "stays float: %s", f)
		}
	}
	for _, t := range r.Roundings {
		line(2, "taken for few bits, but for rounding: %s (%s); --exact-floats refuses it", t.What, listNames(t.Nodes))
	}
	for i, t := range r.in.Inputs {
		if note := noteText(r.in, i); note != "" {
			line(2, "input %s%s", t.Title(), note)
		}
	}
	if full {
		for _, c := range r.Computed {
			line(2, "not counted in bits: %s", c)
		}
	}
	line(0, "weights and tables %s (weights as floats %s)", human.Bytes(r.in.WeightBytes), human.Bytes(r.in.FloatBytes))
	line(0, "%s", r.in.Workspace)
	for _, k := range r.order {
		fmt.Fprintf(w, "wrote %s (%s)\n", r.Files[k].Path, human.Bytes(int64(r.Files[k].Bytes))) // a path stays whole
	}
	if !full {
		return
	}
	line(0, "%.2f s", r.Seconds)
	if len(r.Functions) > 0 {
		line(0, "functions %s", strings.Join(r.Functions, ", "))
	}
}
