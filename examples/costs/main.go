// Command costs makes the model of a machine, which chooses algorithms and schedules (docs/machines.md). It runs in the module's root.
//
//	go run ./examples/costs learn [-target T] [-layers N] [-points N] [-from SEED] [-macs N] [-models M,...]
//
// measures schedules of layers and fits the target's model to them. Layers are drawn at random, by each of their algorithms, or belong to the
// networks that -models names. Costs are times on this machine, estimated cycles of a simulated board (docs/estimates.md) or instructions of a
// simulated microcontroller. Some schedules are drawn at random. Others are the most promising by the model so far.
//
//	go run ./examples/costs learn -judge N [-target T]
//
// fits nothing. It compares what compile chooses for N other layers with the best of their measured schedules.
//
// examples/costs/points keeps all points, so that a fit of other features measures nothing anew. schedule/machine/data has the models. A command that
// was stopped goes on where it was (build/learn).
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ripc/schedule/machine"
	"ripc/targets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := learn(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}

// options say what is measured and fitted.
type options struct {
	from                       uint64   // seed of the first drawn layer
	layers, points, multiplies int      // drawn layers, schedules of each, and multiply-accumulates of a layer at most
	models                     []string // whose layers are measured in the place of drawn ones
	fit, sieve                 bool     // what is fitted
	check                      bool     // predict layers that the fit has not seen
}

// Numbers of drawn layers, and of schedules of a layer.
const (
	learnedLayers = 320
	learnedPoints = 20
	judgedPoints  = 40
)

// learn measures layers and fits a target's model, or judges it.
func learn(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "learn" {
		return errors.New("want the command learn; go doc ./examples/costs says what it does")
	}
	var name, models string
	var judged int
	var o options
	f := flag.NewFlagSet("learn", flag.ContinueOnError)
	f.StringVar(&name, "target", "cortex-m4", "target of the model")
	f.IntVar(&o.layers, "layers", learnedLayers, "drawn layers")
	f.IntVar(&o.points, "points", 0, fmt.Sprintf("schedules of a layer (%d, or %d to judge)", learnedPoints, judgedPoints))
	f.Uint64Var(&o.from, "from", 0, "seed of the first layer")
	f.BoolVar(&o.fit, "fit", true, "fit the model to all points")
	f.BoolVar(&o.check, "check", true, "predict layers that a fit has not seen, which takes as long as the rest; else the last check stands")
	f.BoolVar(&o.sieve, "sieve", true, "fit the sieve as well, which takes minutes")
	f.StringVar(&models, "models", "", "measure the layers of these in the place of drawn ones: files, or names of examples/networks")
	f.IntVar(&judged, "judge", 0, "fit nothing: judge what is chosen for this many other layers")
	f.IntVar(&o.multiplies, "macs", 0, "multiply-accumulates of a layer at most (3,000,000, or 300,000 for a microcontroller)")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	t, err := targets.Lookup(name)
	if err != nil {
		return err
	}
	if models != "" {
		o.models = strings.Split(models, ",")
	}
	o.multiplies = cmp.Or(o.multiplies, sizes(t).measured)
	if judged > 0 {
		o.layers, o.points = judged, cmp.Or(o.points, judgedPoints)
		return judgeChoices(ctx, t, o)
	}
	o.points = cmp.Or(o.points, learnedPoints)
	return learnLayers(ctx, t, o)
}

// learnLayers measures layers, stores their points, and fits t's model to all points.
func learnLayers(ctx context.Context, t targets.Target, o options) error {
	known, err := readLines[point](store(t))
	if err != nil {
		return err
	}
	file := filepath.Join("build", "learn", machine.FileName(t)+".points")
	by, err := measureSources(ctx, t, file, known, o)
	if err != nil {
		return err
	}
	fresh, err := readLines[point](file)
	if err != nil {
		return err
	}
	all := slices.Concat(known, fresh)
	if err := writeStore(t, all); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !o.fit {
		return nil
	}
	return fitPoints(ctx, t, by, all, o)
}
