// Package numbers measures the speed and sizes that the documents name.
package numbers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"

	"ripc"
	"ripc/codegen"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets"
)

// Task returns the task.
func Task() *task.Task {
	return &task.Task{
		Name: "numbers", Short: "speed and size in the documents: docs/numbers.md and parts of other pages",
		Code: []string{"cmd"}, Rounds: 3,
		Cases: cases, Pages: pages,
	}
}

// bench is a figure that ripc bench gives.
type bench struct {
	name, model, target, schedule, layer string // target "" is host; layer "" the whole network
	size                                 bool   // the library's size too
}

// The subjects of the pages.
var (
	networks = []string{"squeezenet", "squeezenet_a2", "squeezenet_a3", "squeezenet_float"}
	layers   = []struct{ name, input string }{{"A", "56x56x64"}, {"B", "28x28x128"}, {"C", "14x14x256"},
		{"D", "7x7x512"}}
	boards    = []string{"rpi3", "rpi4", "rpi5", "rpi3-armv7"}
	kernels   = []string{"plain", "pairs"}
	levels    = []string{"x86-64-v4", "x86-64-v3"}
	schedules = []string{"", "fire4", "fire4_tiles3"}
)

// fire4 is the layer of docs/schedule.md.
const fire4 = "fire4_expand3"

// benches lists all figures that ripc bench gives.
func benches() []bench {
	var out []bench
	for _, n := range networks {
		model := "examples/squeezenet/" + n + ".json"
		out = append(out, bench{name: n, model: model, size: true},
			bench{name: n + "/rpi3", model: model, target: "rpi3"})
	}
	conv := func(layer string, bits int) string {
		return fmt.Sprintf("examples/convs/conv%s_n%d_unipolar.json", layer, bits)
	}
	for _, l := range layers {
		for bits := 1; bits <= 3; bits++ {
			out = append(out, bench{name: fmt.Sprintf("conv%s_n%d", l.name, bits), model: conv(l.name, bits)})
		}
		for _, b := range boards {
			out = append(out, bench{name: fmt.Sprintf("conv%s_n1/%s", l.name, b), model: conv(l.name, 1), target: b})
		}
		for _, k := range kernels {
			out = append(out, bench{name: fmt.Sprintf("conv%s_n1/%s", l.name, k), model: conv(l.name, 1),
				schedule: fmt.Sprintf("examples/convs/conv%s_n1_%s.schedule", l.name, k)})
		}
	}
	for _, l := range levels {
		out = append(out, bench{name: "convB_n1/" + l, model: conv("B", 1), target: l})
	}
	for _, s := range schedules {
		b := bench{name: "fire4/default", model: "examples/squeezenet/squeezenet.json", target: "rpi3", layer: fire4}
		if s != "" {
			b.name, b.schedule = "fire4/"+s, "examples/squeezenet/"+s+".schedule"
		}
		out = append(out, b)
	}
	return out
}

// commands are figures that take the time of a whole command.
func commands() map[string]string {
	return map[string]string{
		"compile cold": "RIPC_CACHE_DIR=$(mktemp -d) bin/ripc compile examples/squeezenet/squeezenet.json -o " +
			"build/numbers/squeezenet",
		"compile warm": "bin/ripc compile examples/squeezenet/squeezenet.json -o build/numbers/squeezenet",
		"verify":       "bin/ripc verify examples/squeezenet/squeezenet.json",
	}
}

// cases are all figures.
func cases(context.Context, *regexp.Regexp) (all []task.Case, err error) {
	for _, b := range benches() {
		simulated := false
		if b.target != "" {
			t, err := targets.Lookup(b.target)
			if err != nil {
				return nil, err
			}
			simulated = !t.Native()
		}
		all = append(all, task.Case{Key: figures.Key{Subject: b.name}, Once: simulated, Measure: b.measure})
	}
	for name, command := range commands() {
		all = append(all, task.Case{Key: figures.Key{Subject: name}, Measure: timeCommand(command)})
	}
	return all, os.MkdirAll("build/numbers", 0o755)
}

// measure takes one figure.
func (b bench) measure(ctx context.Context, mark figures.Mark) (_ []figures.Figure, err error) {
	defer stop.Catch(&err)
	o := ripc.Options{Target: b.target}
	if b.schedule != "" {
		o.Schedules = stop.Must(ripc.ReadSchedule(b.schedule))
	}
	r := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: b.model, Options: o, Threads: 1, PerLayer: b.layer != ""}))
	if r.Reason != "" {
		return nil, errors.New(r.Reason)
	}
	found, macs := r.Figures, r.MACs
	if b.layer != "" {
		at := slices.IndexFunc(r.Layers, func(l ripc.LayerBench) bool { return l.Name == b.layer })
		if at < 0 {
			return nil, fmt.Errorf("no layer %s", b.layer)
		}
		found, macs = r.Layers[at].Figures, r.Layers[at].MACs
	}
	f := figures.Figure{Mark: mark, Values: figures.Values(found)}
	f.Values["macs"] = float64(macs)
	if r.Simulated {
		f.Mark = mark.ByQemu()
	} else if r.ClockGHz != nil {
		f.Values["clock_ghz"] = *r.ClockGHz
	}
	if b.size {
		o.Emit = []codegen.Kind{codegen.SO}
		c := stop.Must(ripc.Compile(ctx, b.model, o))
		f.Values["library_bytes"], f.Values["weight_bytes"] = float64(len(c.Files[codegen.SO])),
			float64(ripc.InspectCompiled(c).WeightBytes)
	}
	return []figures.Figure{f}, nil
}

// timeCommand measures a command once in a shell.
func timeCommand(command string) func(context.Context, figures.Mark) ([]figures.Figure, error) {
	return func(ctx context.Context, _ figures.Mark) ([]figures.Figure, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", command, err, out.String())
		}
		ms := float64(time.Since(start).Microseconds()) / 1000
		return []figures.Figure{{Values: map[string]float64{"min_ms": ms, "median_ms": ms}}}, nil
	}
}
