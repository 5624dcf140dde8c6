package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ripc"
)

// verifyResult is what --json prints.
type verifyResult struct {
	OK        bool          `json:"ok"`
	Simulated bool          `json:"simulated"`
	Threads   int           `json:"threads"`
	Seed      uint64        `json:"seed"`
	Stages    []verifyStage `json:"stages"`
	Network   []string      `json:"network"` // differences of a run as a whole
}

type verifyStage struct {
	Name    string   `json:"name"`
	Op      string   `json:"op"`
	Func    string   `json:"func"`
	OK      bool     `json:"ok"`
	Differs []string `json:"differs,omitempty"`
	Suspect string   `json:"suspect,omitempty"`
}

func verifyCommand() *cobra.Command {
	var f compileFlags
	r := ripc.VerifyRequest{}
	cmd := &cobra.Command{
		Use:   "verify MODEL [flags]",
		Short: "Compare compiled code with the interpreter, bit for bit",
		Long: `Compile a model and compare every stage, and the network as a whole, with what the
interpreter computes from the model's definition, bit for bit. The code that is checked is
the code that ships. Exit code 1 says that something differs.`,
		Example: `  ripc verify examples/digits/digits.json --target rpi3
  ripc verify digits.json --so digits.so --threads 4`,
		Args: args(1, 1, "one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			var err error
			if err = checkThreads(r.Threads); err != nil {
				return err
			}
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			p := newProgress()
			r.Progress = p.step
			rep, err := ripc.Verify(cmd.Context(), r)
			p.done()
			if err != nil {
				return err
			}
			res := verifyResult{OK: rep.OK, Simulated: rep.Simulated, Threads: rep.Threads, Seed: r.Seed, Network: []string{}}
			for _, s := range rep.Stages {
				v := verifyStage{Name: s.Name, Op: s.Op, Func: s.Func, OK: s.OK, Suspect: string(s.Suspect)}
				for _, d := range s.Differences {
					v.Differs = append(v.Differs, d.String())
				}
				for _, d := range s.Stray {
					v.Differs = append(v.Differs, d.String())
				}
				res.Stages = append(res.Stages, v)
			}
			for _, d := range rep.Network {
				res.Network = append(res.Network, d.String())
			}
			if err := res.print(cmd, f.json); err != nil {
				return err
			}
			if !res.OK {
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&r.SO, "so", "", "check this library, compiled from MODEL earlier")
	cmd.Flags().Uint64Var(&r.Seed, "seed", 0, "seed of the inputs")
	threadsFlag(cmd, &r.Threads)
	f.register(cmd)
	return cmd
}

func (r *verifyResult) print(cmd *cobra.Command, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), r)
	}
	w := cmd.OutOrStdout()
	bad := 0
	for i, s := range r.Stages {
		verdict := "ok"
		if !s.OK {
			verdict = "DIFFERS"
			bad++
		}
		fmt.Fprintf(w, "%3d  %-24s %-16s %s\n", i, s.Name, s.Op, verdict)
		for _, d := range s.Differs {
			fmt.Fprintf(w, "       %s\n", d)
		}
		if s.Suspect != "" {
			fmt.Fprintf(w, "       the fault is in %s of @%s\n", s.Suspect, s.Func)
		}
	}
	verdict := "ok"
	if len(r.Network) > 0 {
		verdict = "DIFFERS"
	}
	fmt.Fprintf(w, "     %-24s %-16s %s\n", "network", "", verdict)
	for _, d := range r.Network {
		fmt.Fprintf(w, "       %s\n", d)
	}
	how := "native"
	if r.Simulated {
		how = "simulated"
	}
	fmt.Fprintf(w, "%d of %d stages equal the interpreter (%s, threads: %d, seed: %d)\n", len(r.Stages)-bad, len(r.Stages), how, r.Threads, r.Seed)
	return nil
}
