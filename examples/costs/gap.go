package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"

	"ripc"
	"ripc/compile"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/measure"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// point is a schedule of a layer.
type point struct {
	schedule strategy.Choice
	cost     float64
}

func (p point) String() string {
	return fmt.Sprintf("%.0f, %s %s", p.cost, p.schedule.Strategy, p.schedule.Values)
}

// gap prints, for each layer, what its default schedule costs in terms of the best of random ones.
func gap(ctx context.Context, args []string) error {
	var target, by string
	var n int
	layers, err := flags("gap", func(f *flag.FlagSet) {
		f.StringVar(&target, "target", "rpi3", "target")
		f.IntVar(&n, "n", 100, "random points for each layer")
		f.StringVar(&by, "by", "", "algorithm of the layers, instead of the cheapest by estimate")
	}, args)
	if err != nil {
		return err
	}
	for _, name := range layers {
		model, layer, ok := strings.Cut(name, ":")
		if !ok {
			return fmt.Errorf("%q: want MODEL:LAYER", name)
		}
		o := ripc.Options{Target: target}
		if by != "" {
			a, err := layout.ParseAlgorithm(by)
			if err != nil {
				return err
			}
			o.Algorithms = map[string]layout.Algorithm{layer: a}
		}
		c, err := ripc.Compile(ctx, model, o)
		if err != nil {
			return err
		}
		stage := -1
		for i, s := range c.Program.Stages {
			if s.Name == layer {
				stage = i
			}
		}
		if stage < 0 {
			return fmt.Errorf("%s has no layer %s", model, layer)
		}
		f := c.Program.FuncByName(c.Program.Stages[stage].Func)
		k := compile.KernelOptions{Constants: compile.StageConstants(c.Program, stage)}
		usual, best, tried, err := search(ctx, f, k, c.Target, n)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%-60s %5.2f of the best of %d\n    default %s\n    best    %s\n", name, usual.cost/best.cost, tried, usual, best)
	}
	return nil
}

// search measures the default schedule of f and up to n different random ones.
func search(ctx context.Context, f *ir.Func, o compile.KernelOptions, t targets.Target, n int) (usual, best point, tried int, err error) {
	choice, err := strategy.Default(f, t)
	if err != nil {
		return usual, best, 0, err
	}
	usual.schedule = choice
	if usual.cost, err = cost(ctx, f, choice.Trace, o, t); err != nil {
		return usual, best, 0, err
	}
	best = usual
	seen := map[string]bool{choice.Trace.String(): true}
	r := rand.New(rand.NewPCG(1, 2))
	for tries := 0; tried < n && tries < 50*n; tries++ {
		choice, err := strategy.Random(ctx, f, t, r)
		if err != nil {
			return usual, best, tried, err
		}
		if text := choice.Trace.String(); !seen[text] {
			seen[text] = true
			c, err := cost(ctx, f, choice.Trace, o, t)
			if refused := (*ir.Error)(nil); errors.As(err, &refused) { // too much code, say
				continue
			}
			if err != nil {
				return usual, best, tried, fmt.Errorf("%s %s: %w", choice.Strategy, choice.Values, err)
			}
			tried++
			if c < best.cost {
				best = point{choice, c}
			}
		}
	}
	return usual, best, tried, nil
}

// cost builds and measures f with a schedule.
func cost(ctx context.Context, f *ir.Func, tr schedule.Trace, o compile.KernelOptions, t targets.Target) (float64, error) {
	u, err := compile.Kernel(ctx, f, tr, t, o)
	if err != nil {
		return 0, err
	}
	m, err := u.Measure(ctx, 1, measure.Quick())
	if err != nil {
		return 0, err
	}
	return m.Cost(), nil
}
