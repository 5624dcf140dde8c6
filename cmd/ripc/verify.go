package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/verify"
)

// verifyResult is the result for --json.
type verifyResult struct {
	OK        bool          `json:"ok"`
	Simulated bool          `json:"simulated"`
	Engine    string        `json:"engine"` // the kind: native, simulated, sandboxed, device, remote
	Threads   int           `json:"threads"`
	Seed      uint64        `json:"seed"`
	Stages    []verifyStage `json:"stages"`
	Network   []string      `json:"network"` // differences of a run as a whole
	// NetworkWhere is Where of these.
	NetworkWhere []whereIn       `json:"network_where,omitempty"`
	Crash        string          `json:"crash,omitempty"`
	Footprint    *ripc.Footprint `json:"footprint,omitempty"` // of programs for chips without an operating system
	crash        *ripc.VerifyCrash
}

type verifyStage struct {
	Name    string         `json:"name"`
	Op      string         `json:"op"`
	Func    string         `json:"func"`
	OK      bool           `json:"ok"`
	Ran     bool           `json:"ran"`
	Differs []string       `json:"differs,omitempty"`
	Suspect verify.Suspect `json:"suspect,omitempty"`
	// Where has the places of wrong elements in each tensor that the stage writes.
	Where []whereIn `json:"where,omitempty"`
}

func verifyCommand() *cobra.Command {
	var f compileFlags
	var wide, netlist bool
	r := ripc.VerifyRequest{}
	cmd := &cobra.Command{
		Use:   "verify MODEL [flags]",
		Short: "Compare compiled code with the interpreter, bit for bit",
		Long: `Compile a model and compare every stage, and the network as a whole, with the
interpreter's results of the model's definition, bit for bit. The code that is checked is
the code that ships. The weights and thresholds in the library are compared with the model's
byte for byte. The network runs on random inputs; if it takes floats, on hard ones, with NaN,
infinities, -0, subnormal and huge numbers; and on tie inputs, few values that make sums cancel
and roundings meet halves. Files given with --input, as 'ripc run' takes them, replace all of
these. With --layer one layer is built and compared by itself, with its own weights and its
schedule. Exit code 1 says that something differs, or that a stage crashed or did not end.`,
		Example: `  ripc verify examples/digits/digits.json --target rpi3
  ripc verify digits.json --so digits.so --threads 4
  ripc verify digits.json --input examples/digits/data/x_test.npy
  ripc verify digits.json --layer conv2 --schedule my.schedule
  ripc verify digits.json --target rpi4 --on ssh:pi@board`,
		Args: argCount(1, 1, "one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			var err error
			if r.Limit <= 0 {
				return usagef("--timeout %v: give a time above 0", r.Limit)
			}
			if r.Layer != "" && (r.SO != "" || len(r.Inputs) > 0) {
				return usagef("--layer %s: it is built by itself and runs on inputs of its own, leave --so and "+
					"--input out", r.Layer)
			}
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			if ripc.IsFPGA(f.target) {
				if r.Layer != "" || r.SO != "" || len(r.Inputs) > 0 || r.On != "" {
					return usagef("--layer, --so, --input and --on are not for accelerators, which are verified whole")
				}
				if netlist && f.fold.Core != "" {
					return usagef("--netlist is not for instruction cores")
				}
				return f.verifyAccelerator(cmd, r.Path, r.Options, r.Seed, netlist, wide)
			}
			if netlist {
				return usagef("--netlist is for targets with an FPGA")
			}
			if isVerifyWorker() {
				return verifyWorker(cmd.Context(), os.Stdin, rawWriter(cmd.OutOrStdout()), r)
			}
			p := newProgress()
			rep, err := verifyApart(cmd.Context(), r.Limit, p.step)
			p.done()
			if err != nil {
				return err
			}
			res := newVerifyResult(rep, r.Seed)
			if err := res.print(cmd.OutOrStdout(), f.json, wide); err != nil {
				return err
			}
			if !res.OK {
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&r.SO, "so", "", "check this library, compiled from MODEL earlier")
	cmd.Flags().StringVar(&r.Layer, "layer", "", "check this layer alone, built by itself")
	cmd.Flags().StringArrayVar(&r.Inputs, "input", nil, "[NAME=]FILE.npy, .png or .jpg, instead of random, hard and "+
		"tie inputs; may be repeated")
	cmd.Flags().Uint64Var(&r.Seed, "seed", 0, "seed of the inputs that are not given")
	f.threadsFlag(cmd, &r.Threads)
	onFlag(cmd, &r.On)
	cmd.Flags().DurationVar(&r.Limit, "timeout", time.Minute, "how long the compiled code of a stage may run")
	cmd.Flags().BoolVar(&netlist, "netlist", false, "targets with an FPGA: simulate the synthesized netlist, too")
	wideFlag(cmd, &wide)
	f.foldFlags(cmd)
	f.register(cmd)
	return cmd
}

func newVerifyResult(rep *ripc.VerifyReport, seed uint64) *verifyResult {
	res := &verifyResult{OK: rep.OK, Simulated: rep.Simulated(), Engine: rep.Kind.String(),
		Threads: rep.Threads, Seed: seed, Network: []string{}, Footprint: rep.Footprint, crash: rep.Crash}
	if rep.Crash != nil {
		res.Crash = rep.Crash.String()
	}
	for _, s := range rep.Stages {
		res.Stages = append(res.Stages, verifyStage{Name: s.Name, Op: s.Op, Func: s.Func, OK: s.OK, Ran: s.Ran,
			Differs: s.Findings(), Suspect: s.Suspect, Where: whereOf(s.Differences)})
	}
	for _, d := range rep.Network {
		res.Network = append(res.Network, d.String())
	}
	res.NetworkWhere = whereOf(rep.Network)
	return res
}

func (r *verifyResult) print(w io.Writer, asJSON, wide bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	t := &table{columns: []column{numCol("", 0), textCol("STAGE", 0).cutAs(cutMiddle, 0), textCol("OP", 1),
		textCol("RESULT", 0)}}
	bad := 0
	for i, s := range r.Stages {
		if !s.OK {
			bad++
		}
		t.add(fmt.Sprint(i), s.Name, s.Op, r.verdict(i, s.Ran, s.OK, len(s.Differs) > 0))
		for _, d := range s.Differs {
			t.addBelow("%s", d)
		}
		belowWhere(t, s.Where)
		switch s.Suspect {
		case verify.Unknown:
		case verify.Constants:
			t.addBelow("the library is damaged, or made of another model")
		default:
			t.addBelow("the fault is in %s of @%s", s.Suspect, s.Func)
		}
	}
	t.add("", "network", "", r.verdict(len(r.Stages), r.crash == nil, len(r.Network) == 0, len(r.Network) > 0))
	for _, d := range r.Network {
		t.addBelow("%s", d)
	}
	belowWhere(t, r.NetworkWhere)
	t.write(w, widthOf(w, wide))
	if r.Crash != "" {
		fmt.Fprintln(w, r.Crash)
	}
	if f := r.Footprint; f != nil {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "%d of %d stages equal the interpreter (%s, threads: %d, seed: %d)\n", len(r.Stages)-bad,
		len(r.Stages), r.Engine, r.Threads, r.Seed)
	if first := slices.IndexFunc(r.Stages, func(s verifyStage) bool { return s.Ran && !s.OK }); first >= 0 && bad > 1 {
		fmt.Fprintf(w, "the first that differs is %d, %s\n", first, r.Stages[first].Name)
	}
	return nil
}

// verdict returns a word for stage i, or for the network after the last.
func (r *verifyResult) verdict(i int, ran, ok, differs bool) string {
	switch {
	case r.crash != nil && r.crash.Stage == i:
		return "CRASHED"
	case differs:
		return "DIFFERS"
	case !ran:
		return "not run"
	case ok:
		return "ok"
	}
	return "DIFFERS"
}
