package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ripc"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/measure/provenance"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/targets"
)

// stagePoint is a measured stage, a line of build/learn/TARGET.jsonl.
type stagePoint struct {
	Network   uint64             `json:"network"`   // its seed
	Algorithm string             `json:"algorithm"` // of all layers that it applies to
	Stage     string             `json:"stage"`
	Counts    map[string]float64 `json:"counts"`
	Cost      float64            `json:"cost"`
}

// learnOptions are what is measured: layers of simulated boards, networks of microcontrollers.
type learnOptions struct {
	from                       uint64
	layers, points, multiplies int
	fit, sieve                 bool // what is fitted
	check                      bool // the fit, on layers that are held out
	models                     []string
}

// learn measures what is drawn at random, and fits a target's model to it. Stopped, it goes on where it was.
func learn(ctx context.Context, args []string) error {
	var name, models string
	var judged int
	o := learnOptions{}
	if _, err := flags("learn", func(f *flag.FlagSet) {
		f.StringVar(&name, "target", "cortex-m4", "whose model is fitted; a simulated board or chip")
		f.IntVar(&o.layers, "layers", 0, "layers of a board or networks of a chip that are drawn (320 or 60)")
		f.IntVar(&o.points, "points", 0, "schedules of a layer of a board (20, or 40 to judge)")
		f.Uint64Var(&o.from, "from", 0, "seed of the first layer of a board")
		f.BoolVar(&o.fit, "fit", true, "fit the model to all points that there are")
		f.BoolVar(&o.check, "check", true, "say how far off predictions are on layers that are held out, which takes as long as the rest; else the last check stands")
		f.BoolVar(&o.sieve, "sieve", true, "fit what guesses costs before a schedule is built, too, which takes minutes")
		f.StringVar(&models, "models", "", "measure the layers of these in the place of drawn ones: files, or names of examples/networks")
		f.IntVar(&judged, "judge", 0, "fit nothing: judge what is chosen for so many other layers or networks")
		f.IntVar(&o.multiplies, "macs", 0, "multiply-accumulates of a layer at most (3,000,000 or 300,000)")
	}, args); err != nil {
		return err
	}
	t, err := targets.Lookup(name)
	if err != nil {
		return err
	}
	if models != "" {
		o.models = strings.Split(models, ",")
	}
	board, points := !t.Bare, 20
	if judged > 0 {
		o.layers, points = judged, 40
	}
	if board {
		o.layers, o.points, o.multiplies = cmp.Or(o.layers, 320), cmp.Or(o.points, points), cmp.Or(o.multiplies, 3_000_000)
	} else {
		o.layers, o.multiplies = cmp.Or(o.layers, 60), cmp.Or(o.multiplies, 300_000)
	}
	switch {
	case board && judged > 0:
		return judgeBoard(ctx, t, o)
	case board:
		return learnBoard(ctx, t, o)
	case judged > 0:
		return judge(ctx, t, judged, o.multiplies)
	}
	return learnChip(ctx, t, o)
}

// learnChip measures networks on a simulated microcontroller, and fits its prices to their stages.
func learnChip(ctx context.Context, t targets.Target, o learnOptions) error {
	networks, multiplies := o.layers, o.multiplies
	path := filepath.Join("build", "learn", t.Name+".jsonl")
	points, err := readLines[stagePoint](path)
	if err != nil {
		return err
	}
	known := map[uint64]bool{}
	for _, p := range points {
		known[p.Network] = true
	}
	for seed := range uint64(networks) {
		if known[seed] {
			continue
		}
		some, err := measureDrawn(ctx, t, seed, multiplies)
		if err != nil {
			return fmt.Errorf("network %d: %w", seed, err)
		}
		if err := appendLines(path, some); err != nil {
			return err
		}
		points = append(points, some...)
		fmt.Printf("network %d of %d: %d stages\n", seed+1, networks, len(some))
	}
	return fitWeights(t, points)
}

// judge compares the chosen algorithms with each single one, on networks that the fit has not seen, and notes the result.
func judge(ctx context.Context, t targets.Target, networks, multiplies int) error {
	m, ok, err := machine.Of(t)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no weights of %s: fit them first", t.Name)
	}
	const first = 1_000_000 // far from the networks that are fitted
	c := machine.Choice{Networks: networks, Worst: 1}
	var mean, usual float64
	for i := range networks {
		taken, best, popcount, err := compareDrawn(ctx, t, first+uint64(i), multiplies)
		if err != nil {
			return fmt.Errorf("network %d: %w", first+i, err)
		}
		mean, usual, c.Worst = mean+math.Log(taken/best), usual+math.Log(popcount/best), max(c.Worst, taken/best)
		fmt.Printf("network %d: %.0f %s, the best algorithm %.3f times as much, popcount %.3f\n", first+i, taken, m.Unit, best/taken, popcount/taken)
	}
	c.Mean, c.Usual = math.Exp(mean/float64(networks)), math.Exp(usual/float64(networks))
	fmt.Printf("%.3f times the best by geometric mean, %.3f at worst; popcount alone %.3f\n", c.Mean, c.Worst, c.Usual)
	m.Choice = c
	return writeWeights(m.Weights)
}

// compareDrawn gives a network's cost as it is compiled, by the best algorithm for all of its layers, and by popcount.
func compareDrawn(ctx context.Context, t targets.Target, seed uint64, multiplies int) (taken, best, popcount float64, err error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(dir)
	path, err := writeDrawn(dir, drawNetwork(rand.New(rand.NewPCG(seed, 1)), multiplies))
	if err != nil {
		return 0, 0, 0, err
	}
	whole := func(o ripc.Options) (sum float64, err error) {
		points, err := stagesOf(ctx, path, t, o)
		for _, p := range points {
			sum += p.Cost
		}
		return sum, err
	}
	o := ripc.Options{Target: t.Name}
	if taken, err = whole(o); err != nil {
		return 0, 0, 0, err
	}
	c, err := ripc.Compile(ctx, path, o)
	if err != nil {
		return 0, 0, 0, err
	}
	best, popcount = taken, taken
	free := lower.Free(c.Graph, lower.Options{})
	for by, choice := range lower.Uniform(free) {
		o.Algorithms = choice
		n, err := whole(o)
		if err != nil {
			return 0, 0, 0, err
		}
		best = min(best, n)
		if by == layout.Popcount {
			popcount = n
		}
	}
	return taken, best, popcount, nil
}

// writeDrawn writes a model that is drawn, and gives its path.
func writeDrawn(dir string, model map[string]any) (string, error) {
	path := filepath.Join(dir, "drawn.json")
	text, err := json.Marshal(model)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o600)
}

// drawnAlgorithms is the number of algorithms for each network: more networks tell more than more algorithms of one.
const drawnAlgorithms = 4

// measureDrawn measures the stages of a network by algorithms that some layer of it can have, drawn at random.
func measureDrawn(ctx context.Context, t targets.Target, seed uint64, multiplies int) ([]stagePoint, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := rand.New(rand.NewPCG(seed, 1))
	path, err := writeDrawn(dir, drawNetwork(r, multiplies))
	if err != nil {
		return nil, err
	}
	o := ripc.Options{Target: t.Name}
	first, err := ripc.Compile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	free := lower.Free(first.Graph, lower.Options{})
	choices := maps.Collect(lower.Uniform(free))
	if len(choices) == 0 {
		choices[layout.Popcount] = nil // of which nothing is read
	}
	apply := slices.Sorted(maps.Keys(choices))
	r.Shuffle(len(apply), func(i, j int) { apply[i], apply[j] = apply[j], apply[i] })
	var points []stagePoint
	for _, by := range apply[:min(len(apply), drawnAlgorithms)] {
		o.Algorithms = choices[by]
		some, err := stagesOf(ctx, path, t, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", by, err)
		}
		for _, p := range some {
			p.Network, p.Algorithm = seed, by.String()
			points = append(points, p)
		}
	}
	return points, nil
}

// stagesOf measures the stages of one network.
func stagesOf(ctx context.Context, path string, t targets.Target, o ripc.Options) ([]stagePoint, error) {
	c, err := ripc.Compile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	b, err := ripc.Bench(ctx, ripc.BenchRequest{Path: path, Options: o, Threads: 1, PerLayer: true})
	if err != nil {
		return nil, err
	}
	if len(b.Layers) != len(c.Program.Stages) {
		return nil, fmt.Errorf("%d stages were measured of %d", len(b.Layers), len(c.Program.Stages))
	}
	describe := features.For(t)
	names := describe.CountNames()
	var points []stagePoint
	for i, s := range c.Program.Stages {
		p := stagePoint{Stage: s.Name, Counts: map[string]float64{}}
		for k, n := range describe.Counts(c.Scheduled.FuncByName(s.Func)) {
			if n != 0 {
				p.Counts[names[k]] = n
			}
		}
		if p.Cost, _ = b.Layers[i].Cost(); p.Cost > 0 {
			points = append(points, p)
		}
	}
	return points, nil
}

// fitWeights fits t's weights to points, and writes them.
func fitWeights(t targets.Target, points []stagePoint) error {
	names := features.For(t).CountNames()
	var samples []machine.Sample
	networks := map[uint64]bool{}
	for _, p := range points {
		s := machine.Sample{Cost: p.Cost, Group: fmt.Sprint(p.Network), Counts: make([]float64, len(names))}
		for k, n := range names {
			s.Counts[k] = p.Counts[n]
		}
		samples, networks[p.Network] = append(samples, s), true
	}
	mark := provenance.Now("engine", "examples/costs")
	w := machine.Weights{Target: t.Name, Unit: "instructions", Date: mark.Date, Commit: mark.Commit, Tool: "qemu, " + t.CPU,
		Networks: len(networks), Points: len(samples), Error: machine.CrossError(samples), Terms: map[string]float64{}}
	for k, price := range machine.Fit(samples) {
		if price > 0 {
			w.Terms[names[k]] = price
		}
	}
	fmt.Printf("%d points of %d networks; off by %.1f %% (median) and %.1f %% (p90) on networks that were held out\n", w.Points, w.Networks, 100*w.Error.Median, 100*w.Error.P90)
	return writeWeights(w)
}

func writeWeights(w machine.Weights) error {
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("schedule", "machine", "data", w.Target+".json"), append(text, '\n'), 0o644)
}
