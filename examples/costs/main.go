// Command costs measures layers, by time on this machine and by estimated cycles (docs/estimates.md) on simulated boards, fits the
// constants of ripc's formulas to that, and holds default schedules against others. It runs in the module's root.
//
//	go run ./examples/costs measure [-by ALGORITHM] [-known] TARGET...
//
// measures a grid of layers by every algorithm, or by one, on each target, and keeps what it found in schedule/cost/measured/layers.txt; -known measures only what is not there. Where sums may be short, layers of few
// bits are measured as well, by what may be chosen for them. zen5 is this machine, if it
// has AVX-512 and vpopcntdq.
//
//	go run ./examples/costs fit
//
// fits the constants of all targets to what is kept, of sums and of look-ups, and writes targets/sums_fitted.go.
//
//	go run ./examples/costs gap [-target T,...] [-search S] [-trials N] [-by ALGORITHM] [-only REGEXP] [-known] [-out docs/defaults] [MODEL[:LAYER]...]
//
// compares the default schedule of each kernel with the best of N that a search proposes, of the networks of docs/defaults.md unless others are named: files, or names of
// examples/networks. What is measured lies in build/gap, as the tuner's records: stopped, it goes on there the next time, and -known compares with what is there.
//
//	go run ./examples/costs shapes [-target T] [-sample N] [-anew]
//
// measures layers of all channels, kernels and strides, compares them with those whose channels fill words, keeps that in docs/shapes, and writes docs/shapes.md.
// Stopped, it keeps what it has, and goes on there the next time.
//
//	go run ./examples/costs learn [-target T] [-layers N] [-points N] [-judge N] [-macs N]
//
// measures random layers by each of their algorithms, on a simulated board or microcontroller or on this machine, and fits the model of
// schedule/machine to them. Kernels have random schedules and, once there is a model, its most promising ones. examples/costs/points keeps all
// points, so that other features can be fitted without measuring. The model goes to schedule/machine/data, where compile finds it. -models measures those of models. -judge compares what compile takes with
// the points of layers that no fit has seen. Stopped, it goes on where it was (build/learn).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, []string) error{"measure": measureLayers, "fit": fit, "gap": gap, "shapes": measureShapes, "learn": learn}
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("want a command: measure, fit, gap, shapes or learn; go doc ./examples/costs says what it does")
	}
	return commands[args[0]](ctx, args[1:])
}

// flags parses the flags of a command.
func flags(name string, define func(*flag.FlagSet), args []string) ([]string, error) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	define(f)
	err := f.Parse(args)
	return f.Args(), err
}
