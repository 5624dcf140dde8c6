package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"

	"ripc/targets"
)

// learnOptions are what is measured and fitted.
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
		f.StringVar(&name, "target", "cortex-m4", "whose model is fitted")
		f.IntVar(&o.layers, "layers", 0, "layers that are drawn (320)")
		f.IntVar(&o.points, "points", 0, "schedules of a layer (20, or 40 to judge)")
		f.Uint64Var(&o.from, "from", 0, "seed of the first layer")
		f.BoolVar(&o.fit, "fit", true, "fit the model to all points that there are")
		f.BoolVar(&o.check, "check", true, "say how far off predictions are on layers that are held out, which takes as long as the rest; else the last check stands")
		f.BoolVar(&o.sieve, "sieve", true, "fit what guesses costs before a schedule is built, too, which takes minutes")
		f.StringVar(&models, "models", "", "measure the layers of these in the place of drawn ones: files, or names of examples/networks")
		f.IntVar(&judged, "judge", 0, "fit nothing: judge what is chosen for so many other layers")
		f.IntVar(&o.multiplies, "macs", 0, "multiply-accumulates of a layer at most (3,000,000, or 300,000 for a microcontroller)")
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
	points := 20
	if judged > 0 {
		o.layers, points = judged, 40
	}
	o.layers, o.points, o.multiplies = cmp.Or(o.layers, 320), cmp.Or(o.points, points), cmp.Or(o.multiplies, sizes(t).measured)
	if judged > 0 {
		return judgeChoices(ctx, t, o)
	}
	return learnLayers(ctx, t, o)
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
