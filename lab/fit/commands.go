// Package fit makes the model of a machine, which chooses algorithms and schedules
// (docs/machines.md): it measures schedules of layers, fits the model to them, and judges the
// model's choices for other layers. All points are kept (lab/data/points), so that a fit of other
// features measures nothing anew. schedule/machine/data has the models.
package fit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/schedule/machine"
	"ripc/targets"
)

// options are the flags of both commands.
type options struct {
	from                       uint64   // seed of the first drawn layer
	layers, points, multiplies int      // drawn layers, schedules of each, and multiply-accumulates of a layer at most
	models                     []string // files or networks with layers to measure in the place of drawn ones
	strategy                   string   // the only one of models' layers to measure, if not empty
	fit, sieve                 bool     // the models to fit
	check                      bool     // predict layers that the fit has not seen
	effort                     int      // schedules of each layer that compile tries
}

// Commands returns the commands fit and judge.
func Commands() []*cobra.Command {
	var learned, judged options
	fit := command("fit", "measure layers, and fit the model of a machine to them", learnLayers, &learned)
	fit.Long = "Layers are drawn at random, by each of their algorithms, or belong to the networks that --models " +
		"names. Costs are times on this machine, " +
		"estimated cycles of a simulated board or instructions of a simulated microcontroller. A command that was " +
		"stopped goes on where it was (build/learn)."
	f := fit.Flags()
	f.IntVar(&learned.layers, "layers", 320, "drawn layers")
	f.IntVar(&learned.points, "points", 20, "schedules of a layer")
	f.BoolVar(&learned.fit, "fit", true, "fit the model to all points")
	f.BoolVar(&learned.check, "check", true, "predict layers that a fit has not seen, which takes as long as the "+
		"rest; else the last check stands")
	f.BoolVar(&learned.sieve, "sieve", true, "fit the sieve as well, which takes minutes")
	f.StringSliceVar(&learned.models, "models", nil, "measure the layers of these in the place of drawn ones: "+
		"files, or names of examples/networks")
	f.StringVar(&learned.strategy, "strategy", "", "measure schedules of this strategy alone, in layers of --models "+
		"that have none: one that is newer than their points")
	judge := command("judge", "compare compile's choices for layers that no fit has seen with the best of their "+
		"measured schedules", judgeChoices, &judged)
	judge.Flags().IntVar(&judged.layers, "layers", 20, "drawn layers")
	judge.Flags().IntVar(&judged.points, "points", 40, "schedules of a layer")
	judge.Flags().IntVar(&judged.effort, "effort", 0, "schedules of each layer that compile tries; the result is "+
		"only printed")
	return []*cobra.Command{fit, judge}
}

// command returns a command for a target, with the flags that both have.
func command(name, short string, run func(context.Context, targets.Target, options) error, o *options) *cobra.Command {
	var target string
	c := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		t, err := targets.Lookup(target)
		if err != nil {
			return err
		}
		o.multiplies = cmp.Or(o.multiplies, sizes(t).measured)
		return run(c.Context(), t, *o)
	}}
	c.Flags().StringVar(&target, "target", "", "target of the model")
	if err := c.MarkFlagRequired("target"); err != nil {
		panic("BUG: " + err.Error())
	}
	c.Flags().Uint64Var(&o.from, "from", 0, "seed of the first layer")
	c.Flags().IntVar(&o.multiplies, "macs", 0, "multiply-accumulates of a layer at most (3,000,000, or 300,000 for "+
		"a microcontroller)")
	return c
}

// learnLayers measures layers, stores their points, and fits t's model to all points.
func learnLayers(ctx context.Context, t targets.Target, o options) (err error) {
	defer stop.Catch(&err)
	known := stop.Must(figures.ReadLines[point](store(t)))
	file := filepath.Join("build", "learn", machine.FileName(t)+".points")
	by := stop.Must(measureSources(ctx, t, file, known, o))
	fresh := stop.Must(figures.ReadLines[point](file))
	all := slices.Concat(known, fresh)
	stop.Check(writeStore(t, all))
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !o.fit {
		return nil
	}
	return fitPoints(ctx, t, by, all, o)
}
