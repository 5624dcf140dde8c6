package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/targets"
	"ripc/targets/fpga"
)

// foldFlags are the flags that say how large the engines of an accelerator are.
type foldFlags struct {
	ripc.FoldOptions
	set     *pflag.FlagSet
	names   []string
	mustFit bool // a part that is too small by estimate is an error, not a note
}

// foldFlags adds them, for commands that take targets with an FPGA.
func (f *compileFlags) foldFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	f.fold = &foldFlags{set: fs}
	o := &f.fold.FoldOptions
	add := func() {
		fs.IntVar(&o.Cycles, "cycles", 0, "`N` cycles a picture may take")
		fs.Float64Var(&o.FPS, "fps", 0, "`N` pictures a second, at --clock")
		fs.Float64Var(&o.ClockMHz, "clock", 0, "`MHz` of the accelerator (default the board's)")
		fs.IntVar(&o.Reuse, "reuse", 0, "`N`, the reuse factor: the cycles that each layer may take for a position")
		fs.StringArrayVar(&o.Folds, "fold", nil, "`LAYER=PExSIMD,...`: rows and elements a cycle, for every layer")
		fs.BoolVar(&o.Fit, "fit", false, "the fastest accelerator that fits by estimate (the default)")
		fs.StringVar(&o.Core, "core", "", "`DESIGN|auto`: a program for an instruction core, not engines; "+
			"inspect shows a list of designs")
	}
	f.fold.names = flagsAddedBy(fs, func() { addGroup(fs, "How an accelerator is folded (targets with an FPGA)", add) })
}

// check checks the flags.
func (f *foldFlags) check() error {
	const most = 1e12
	var given []string
	for _, n := range f.names {
		if f.set.Changed(n) && n != "clock" {
			given = append(given, "--"+n)
		}
	}
	if len(given) > 1 {
		return usagef("%s: give one of them", strings.Join(given, " and "))
	}
	for name, v := range map[string]float64{"cycles": float64(f.Cycles), "fps": f.FPS, "clock": f.ClockMHz,
		"reuse": float64(f.Reuse)} {
		if f.set.Changed(name) && !(v > 0 && v <= most) {
			return usagef("--%s %v: give a number above 0, at most %v", name, v, most)
		}
	}
	if f.set.Changed("fold") && strings.Join(f.Folds, "") == "" || f.set.Changed("fit") && !f.Fit ||
		f.set.Changed("core") && f.Core == "" {
		return usagef("%s: give it a value that chooses folds or a core, or leave it out", given[0])
	}
	if f.Core != "" && (f.set.Changed("clock") || len(f.Trials) > 0) {
		return usagef("--core: --clock and --records are for accelerators of engines")
	}
	return nil
}

// checkFPGA fails where flags and the kind of target do not go together.
func (f *compileFlags) checkFPGA() error {
	isFPGA := ripc.IsFPGA(f.target)
	if f.fold != nil && !isFPGA {
		if _, err := targets.Lookup(cmp.Or(f.target, targets.HostName)); err != nil {
			return err
		}
		for _, n := range f.fold.names {
			if f.fold.set.Changed(n) {
				return usagef("--%s is for targets with an FPGA: give --target with one of %s", n,
					strings.Join(fpga.Names(), ", "))
			}
		}
	}
	switch {
	case !isFPGA:
		return nil
	case f.fold == nil:
		return usagef("--target %s is an FPGA: the commands for it are compile, verify, bench, inspect, report, tune, "+
			"run and eval", f.target)
	case f.schedule != "" || f.effort != 0 || f.backend != "",
		len(f.by)+len(f.float)+len(f.bits) > 0:
		return usagef("--target %s is an FPGA: --schedule, --effort, --backend, --algorithm, --float and "+
			"--bitserial are for processors", f.target)
	}
	if f.records != "" {
		var err error
		if f.fold.Trials, err = readTrials(f.records); err != nil {
			return err
		}
	}
	return f.fold.check()
}

// accelerator makes the accelerator that the flags ask for, and prints its notes.
func (f *compileFlags) accelerator(cmd *cobra.Command, path string, o ripc.Options) (*ripc.Accelerator, error) {
	if f.fold.Core != "" {
		return nil, usagef("--core: %s is for accelerators of engines; the commands for instruction cores are "+
			"compile, inspect, bench, verify, run and eval", cmd.Name())
	}
	a, err := ripc.Accelerate(cmd.Context(), path, o, f.fold.FoldOptions)
	if wrong := (*ripc.FoldOptionError)(nil); errors.As(err, &wrong) {
		return nil, usagef("--%s: %s", wrong.Option, wrong.Why)
	}
	if err == nil && f.fold.mustFit && a.TooLarge != nil {
		err = fmt.Errorf("%w (an estimate; --fold takes any folds)", a.TooLarge)
	}
	if err != nil {
		return nil, err
	}
	printNotes(a.Notes)
	return a, nil
}

func printNotes(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(stderr(), "note: %s\n", n)
	}
}

// readTrials reads the records of folds: one trial of tune a line.
func readTrials(path string) ([]ripc.FoldTrial, error) {
	text, err := files.ReadText(path)
	if err != nil {
		return nil, &usageError{msg: "--records " + path, err: files.Cause(err)}
	}
	var all []ripc.FoldTrial
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var t ripc.FoldTrial
		if err := json.Unmarshal(line, &t); err != nil || t.Network == "" || len(t.Folds) == 0 ||
			t.Cycles <= 0 || len(t.Used) == 0 || slices.Min(slices.Collect(maps.Values(t.Used))) < 0 {
			return nil, usagef("--records %s: line %d is no record of folds, as `ripc tune` writes them", path, i+1)
		}
		all = append(all, t)
	}
	return all, nil
}

// tuneAccelerator measures choices of folds, and keeps them in a file.
func (f *compileFlags) tuneAccelerator(cmd *cobra.Command, path string, o ripc.Options, trials int,
	records string) error {
	var known []ripc.FoldTrial
	if _, err := os.Stat(records); err == nil {
		if known, err = readTrials(records); err != nil {
			return err
		}
	}
	a, err := f.accelerator(cmd, path, o)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(records, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	p := newProgress()
	measured := 0
	front, err := a.Tune(cmd.Context(), trials, known, func(t ripc.FoldTrial) error {
		measured++
		p.step(measured, trials, "synthesizing")
		line, err := json.Marshal(t)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		return err
	})
	p.done()
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), front)
	}
	t := &table{columns: []column{numCol("CYCLES", 0), numCol("LUTS", 0), numCol("EST. LUTS", 1), numCol("FFS", 2),
		numCol("BRAM36", 0), numCol("DSPS", 0), textCol("FITS", 0)}}
	for _, x := range front {
		fits := map[bool]string{true: "yes", false: "no"}[x.Cost(a.Target.Family).Fits(a.Target)]
		t.add(fmt.Sprint(x.Cycles), fmt.Sprint(x.Used[fpga.LUTs]), fmt.Sprintf("%.0f", x.Estimate.LUTs),
			fmt.Sprint(x.Used[fpga.FFs]), fmt.Sprintf("%.5g", fpga.BRAM36(x.Used[fpga.RAMKbits])),
			fmt.Sprint(x.Used[fpga.DSPs]), fits)
	}
	w := cmd.OutOrStdout()
	t.write(w, widthOf(w, false))
	fmt.Fprintf(w, "%s synthesized now; records in %s\n", human.Count(measured, "choice"), records)
	return nil
}

// acceleratorKinds are the kinds of files for targets with an FPGA.
func acceleratorKinds() []string { return []string{"v", "h", "c", "bit"} }

// accelerate writes an accelerator into a folder.
func (o *compileOptions) accelerate(cmd *cobra.Command, path string, opt ripc.Options) error {
	if len(o.printAfter) > 0 || o.timePasses || o.noDescribe || o.prefix == "-" {
		return usagef("--print-after, --time-passes, --no-describe and -o - are not for accelerators")
	}
	if o.fold.Core != "" {
		return o.compileCore(cmd, path, opt)
	}
	kinds := []string{"v", "h"}
	if o.emit != "" {
		kinds = strings.Split(o.emit, ",")
	}
	for _, k := range kinds {
		if !slices.Contains(acceleratorKinds(), k) {
			return usagef("--emit %s: for targets with an FPGA it can be %s", k, strings.Join(acceleratorKinds(), ", "))
		}
	}
	o.fold.mustFit = len(o.fold.Folds) == 0 // folds by hand are taken
	a, err := o.accelerator(cmd, path, opt)
	if err != nil {
		return err
	}
	made, routed := map[string][]byte{}, 0.0
	for _, k := range kinds {
		switch k {
		case "v":
			some, err := a.Verilog()
			if err != nil {
				return err
			}
			maps.Copy(made, some)
			board, _, err := a.Board()
			if err != nil {
				return err
			}
			maps.Copy(made, board)
		case "h":
			if made[a.Prefix()+".h"], err = a.Header(); err != nil {
				return err
			}
			driver, err := a.Driver()
			if err != nil {
				return err
			}
			maps.Copy(made, driver)
		case "c":
			some, err := a.Processor(cmd.Context())
			if err != nil {
				return err
			}
			maps.Copy(made, some)
		case "bit":
			p := newProgress()
			p.step(0, 1, "synthesizing, placing and routing")
			r, err := a.Bitstream(cmd.Context())
			p.done()
			if err != nil {
				return err
			}
			made[a.Prefix()+".bit"], routed = r.Bitstream, r.MHz
		}
	}
	res := newAcceleratorResult(a)
	dir, names, err := o.writeFolder(a.Prefix(), fmt.Sprintf("%s for %s at %v MHz, %s", res.Model, res.Target,
		res.ClockMHz, res.Fold), made)
	if err != nil {
		return err
	}
	res.Files, res.RoutedMHz = names, routed
	if o.json {
		return printJSON(cmd.OutOrStdout(), res)
	}
	res.print(cmd.OutOrStdout(), a, 0)
	fmt.Fprintf(cmd.OutOrStdout(), "wrote %s in %s\n", human.Count(len(names), "file"), dir)
	return nil
}

// contentsFile names the accelerator of a folder, and lists its other files.
const contentsFile = "contents.txt"

// contentsMark begins it.
const contentsMark = "ripc wrote these files: "

// writeFolder writes files, by name, into the folder that the flags name, or into one of a name.
// Files that it wrote there before stay if title is the same, else they go.
func (o *compileOptions) writeFolder(name, title string, made map[string][]byte) (dir string, names []string,
	err error) {
	if dir = o.prefix; dir == "" {
		dir = name
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", nil, usagef("--output %s is a file; accelerators are folders", dir)
	}
	text, _ := os.ReadFile(filepath.Join(dir, contentsFile)) // if it is not there, nothing was
	before := strings.Split(strings.TrimSpace(string(text)), "\n")
	if ours := strings.HasPrefix(before[0], contentsMark); !ours && len(text) > 0 {
		return "", nil, usagef("%s was not written by ripc, and would be replaced", filepath.Join(dir, contentsFile))
	}
	title = contentsMark + title
	listed, gone := slices.Collect(maps.Keys(made)), []string{}
	for _, name := range before[1:] {
		switch {
		case slices.Contains(listed, name) || filepath.Base(name) != name || !filepath.IsLocal(name) || name == ".":
		case before[0] == title:
			listed = append(listed, name)
		default:
			gone = append(gone, name)
		}
	}
	slices.Sort(listed)
	made[contentsFile] = []byte(title + "\n" + strings.Join(listed, "\n") + "\n")
	var list []files.New
	for _, name := range slices.Sorted(maps.Keys(made)) {
		at := filepath.Join(dir, name)
		names = append(names, at)
		list = append(list, files.New{Path: at, Data: made[name], Mode: 0o666})
	}
	undo, err := makePlaces(names[0], names)
	if err != nil {
		return "", nil, err
	}
	defer undo()
	if err = files.ReplaceAll(list...); err == nil {
		for _, name := range gone {
			if e := os.Remove(filepath.Join(dir, name)); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return dir, names, err
}

// acceleratorResult is the result of compile and inspect for --json.
type acceleratorResult struct {
	Model     string           `json:"model"`
	Target    string           `json:"target"`
	Part      string           `json:"part"`
	ClockMHz  float64          `json:"clock_mhz"`
	Cycles    int              `json:"cycles"`
	FPS       float64          `json:"fps"`
	MACs      int              `json:"macs"`
	Hardware  int              `json:"hardware_macs"`
	Estimate  any              `json:"estimate"`
	Layers    any              `json:"layers"`
	Processor []processorLayer `json:"processor"` // layers that stay there, and why
	Fold      string           `json:"fold"`
	Files     []string         `json:"files,omitempty"`
	RoutedMHz float64          `json:"routed_mhz,omitempty"` // highest clock after place and route
}

// processorLayer is a layer that is not in hardware.
type processorLayer struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

func newAcceleratorResult(a *ripc.Accelerator) *acceleratorResult {
	r := &acceleratorResult{Model: a.Graph.Name, Target: a.Target.Board.Name, Part: a.Target.Part.Name,
		ClockMHz: a.Clock, Cycles: a.Design.Cycles, FPS: a.FPS(), MACs: a.Design.Total, Hardware: a.Design.Work,
		Estimate: a.Point.Cost,
		Layers:   a.Layers(), Processor: []processorLayer{}, Fold: a.Point.Text(a.Design.Segment)}
	for _, n := range a.Design.Refusals {
		r.Processor = append(r.Processor, processorLayer{n.Node, n.Why})
	}
	return r
}

func (r *acceleratorResult) print(w io.Writer, a *ripc.Accelerator, width int) {
	share := 1.0
	if r.MACs > 0 {
		share = float64(r.Hardware) / float64(r.MACs)
	}
	fmt.Fprintf(w, "%s for %s (%s): %s in hardware, %s of %s MACs\n\n", r.Model, r.Target, r.Part,
		human.Count(len(a.Design.MVUs()), "layer"), percent(share), countText(int64(r.MACs)))
	acceleratorTable(a).write(w, width)
	fmt.Fprintf(w, "\n%s\n", paceText(r.Cycles, a.Design.Slowest, r.FPS, r.ClockMHz))
	cost, part := a.Point.Cost, a.Target.Part
	fmt.Fprintf(w, "about %.0f LUTs (%s) and %.0f block RAMs (%s), estimated\n", cost.LUTs,
		percent(cost.LUTs/float64(part.LUTs)), cost.Blocks, percent(cost.Blocks/float64(part.Blocks(a.Target.Family))))
	if r.RoutedMHz > 0 {
		fmt.Fprintf(w, "highest clock after place and route: %.1f MHz\n", r.RoutedMHz)
	}
	for _, n := range r.Processor {
		fmt.Fprintln(w, wrap(fmt.Sprintf("on the processor: %s: %s", n.Name, n.Why), width, 2))
	}
}

// paceText says how long a picture takes, and which layer takes it.
func paceText(cycles int, layer string, fps, clock float64) string {
	return fmt.Sprintf("%d cycles a picture, by layer %s: %.0f pictures a second at %g MHz", cycles, layer, fps, clock)
}

// acceleratorTable has a row for each layer in hardware.
func acceleratorTable(a *ripc.Accelerator) *table {
	t := &table{columns: []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), textCol("ENGINE", 3), textCol("SHAPE", 4),
		textCol("BITS", 5), numCol("MACS", 6), textCol("PE x SIMD", 0), numCol("REUSE", 2), numCol("CYCLES", 0),
		numCol("EST. LUTS", 1), numCol("EST. BRAM", 1)}}
	for _, l := range a.Layers() {
		bits, fold, reuse, luts, blocks := "", "", "", "", ""
		if l.Fold != nil {
			bits = fmt.Sprintf("%d x %d", l.XBits, l.WBits)
			fold, reuse = l.Fold.String(), fmt.Sprint(l.Reuse)
			luts, blocks = fmt.Sprintf("%.0f", l.Estimate.LUTs), fmt.Sprintf("%.0f", l.Estimate.Blocks)
		}
		t.add(l.Name, l.Engine, l.Shape, bits, countText(l.MACs), fold, reuse, fmt.Sprint(l.Cycles), luts, blocks)
	}
	return t
}

// inspectAccelerator shows an accelerator without writing it.
func (f *compileFlags) inspectAccelerator(cmd *cobra.Command, path string, o ripc.Options, wide bool) error {
	if f.fold.Core != "" {
		return f.inspectCore(cmd, path, o)
	}
	a, err := f.accelerator(cmd, path, o)
	if err != nil {
		return err
	}
	res := newAcceleratorResult(a)
	if f.json {
		return printJSON(cmd.OutOrStdout(), res)
	}
	res.print(cmd.OutOrStdout(), a, widthOf(cmd.OutOrStdout(), wide))
	return nil
}

// benchAccelerator measures an accelerator after synthesis.
func (f *compileFlags) benchAccelerator(cmd *cobra.Command, path string, o ripc.Options, wide bool) error {
	if f.fold.Core != "" {
		return f.benchCore(cmd, path, o)
	}
	a, err := f.accelerator(cmd, path, o)
	if err != nil {
		return err
	}
	p := newProgress()
	p.step(0, 1, "synthesizing")
	b, err := a.Measure(cmd.Context())
	p.done()
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), b)
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s for %s (%s), the accelerator alone, by %s\n\n", b.Model, b.Target, b.Part, b.Tool)
	acceleratorTable(a).write(w, widthOf(w, wide))
	fmt.Fprintf(w, "\n%s\n", paceText(b.Cycles, b.Slowest, b.FPS, b.ClockMHz))
	t := &table{columns: []column{textCol("RESOURCE", 0), numCol("USED", 0), numCol("SHARE", 0),
		numCol("ESTIMATED", 0)}}
	for _, row := range []struct {
		name      string
		resource  fpga.Resource
		used      float64
		estimated string
	}{{"LUTs", fpga.LUTs, float64(b.LUTs), fmt.Sprintf("%.0f", b.Estimate.LUTs)},
		{"flip-flops", fpga.FFs, float64(b.FFs), ""}, {"block RAM of 36 Kbit", fpga.RAMKbits, b.BRAM36, ""},
		{"multipliers", fpga.DSPs, float64(b.DSPs), ""}} {
		share := ""
		if s, ok := b.Shares[row.resource]; ok {
			share = percent(s)
		}
		t.add(row.name, fmt.Sprintf("%.5g", row.used), share, row.estimated)
	}
	t.write(w, widthOf(w, wide))
	return nil
}

// verifyAccelerator proves and simulates an accelerator.
func (f *compileFlags) verifyAccelerator(cmd *cobra.Command, path string, o ripc.Options, seed uint64,
	netlist, wide bool) error {
	if f.fold.Core != "" {
		return f.verifyCore(cmd, path, o, seed)
	}
	a, err := f.accelerator(cmd, path, o)
	if err != nil {
		return err
	}
	p := newProgress()
	rep, err := a.Verify(cmd.Context(), ripc.AcceleratorVerifyOptions{Seed: seed, Netlist: netlist}, p.step)
	p.done()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.json {
		if err := printJSON(w, rep); err != nil {
			return err
		}
	} else {
		printAcceleratorReport(w, rep, widthOf(w, wide))
	}
	if !rep.OK {
		return errFailed
	}
	return nil
}

// verdict is the result of a comparison, in tables.
func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "DIFFERS"
}

func printAcceleratorReport(w io.Writer, r *ripc.AcceleratorReport, width int) {
	t := &table{columns: []column{textCol("STREAM", 1), textCol("TENSOR", 0).cutAs(cutMiddle, 0), textCol("SHAPE", 2),
		numCol("ELEMENTS", 3), textCol("RESULT", 0)}}
	for _, s := range r.Streams {
		t.add(s.Name, s.Tensor, s.Shape, fmt.Sprint(s.Elements), verdict(s.OK))
		for _, d := range s.Differs {
			t.addBelow("%s", d)
		}
	}
	t.write(w, width)
	fmt.Fprintln(w)
	for _, m := range r.Mixes {
		fmt.Fprintf(w, "%s: %s, %.1f cycles a picture\n", m.Stalls, verdict(m.OK), m.Cycles)
		if m.Stuck {
			fmt.Fprintln(w, "  it got stuck")
		}
	}
	for _, m := range r.Netlist {
		fmt.Fprintf(w, "netlist, %s: %s, %.1f cycles a picture\n", m.Stalls, verdict(m.OK), m.Cycles)
	}
	fmt.Fprintf(w, "by formula: %d cycles a picture\n", r.Cycles)
	for _, d := range append(r.Network, r.Proof) {
		if d != "" {
			fmt.Fprintln(w, wrap(d, width, 2))
		}
	}
	fmt.Fprintf(w, "%d sums of all rows proved; %s equal the interpreter (simulated, seed: %d)\n", r.Proved,
		human.Count(r.Pictures, "picture"), r.Seed)
}
