package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"ripc/measure/provenance"
)

// Numbers is docs/numbers.json.
type Numbers struct {
	Cores   int               `json:"cores"`
	System  string            `json:"system"`
	LLVM    string            `json:"llvm"`
	Go      string            `json:"go"`
	GHz     float64           `json:"ghz"`    // of one core behind runs of SqueezeNet
	Rounds  int               `json:"rounds"` // in which all figures take turns
	Figures map[string]Figure `json:"figures"`
}

// Figure is one measurement. Fields that it does not have are nil.
type Figure struct {
	Command   string `json:"command"`             // gives the same figure by hand
	Simulated bool   `json:"simulated,omitempty"` // counted by qemu: no times
	// MinMS is the shortest run of all rounds, MedianMS and MACsPerCycle are the medians of the rounds' own.
	MinMS        *float64 `json:"min_ms,omitempty"`
	MedianMS     *float64 `json:"median_ms,omitempty"`
	MACsPerCycle *float64 `json:"macs_per_cycle,omitempty"`
	Instructions *uint64  `json:"instructions,omitempty"`
	MACs         int64    `json:"macs,omitempty"`
	WeightBytes  int64    `json:"weight_bytes,omitempty"`
	LibraryBytes int64    `json:"library_bytes,omitempty"`
	provenance.Mark
}

// bench is a figure that ripc bench gives.
type bench struct {
	name, model, target, schedule, layer string // target "" is host; layer "" the whole network
	size                                 bool   // the library's size too
}

func (b bench) command() string {
	words := []string{"bin/ripc bench", b.model, "--threads 1"}
	if b.target != "" {
		words = append(words, "--target", b.target)
	}
	if b.schedule != "" {
		words = append(words, "--schedule", b.schedule)
	}
	if b.layer != "" {
		words = append(words, "--per-layer")
	}
	return strings.Join(words, " ")
}

// What the pages are about.
var (
	networks  = []string{"squeezenet", "squeezenet_a2", "squeezenet_a3", "squeezenet_float"}
	layers    = []struct{ name, input string }{{"A", "56x56x64"}, {"B", "28x28x128"}, {"C", "14x14x256"}, {"D", "7x7x512"}}
	boards    = []string{"rpi3", "rpi4", "rpi5", "rpi3-armv7"}
	kernels   = []string{"plain", "pairs"}
	levels    = []string{"x86-64-v4", "x86-64-v3"}
	schedules = []string{"", "fire4", "fire4_tiles3"}
)

// fire4 is the layer whose schedules docs/schedule.md compares.
const fire4 = "fire4_expand3"

// benches lists all figures that ripc bench gives.
func benches() []bench {
	var out []bench
	for _, n := range networks {
		model := "examples/squeezenet/" + n + ".json"
		out = append(out, bench{name: n, model: model, size: true}, bench{name: n + "/rpi3", model: model, target: "rpi3"})
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
			out = append(out, bench{name: fmt.Sprintf("conv%s_n1/%s", l.name, k), model: conv(l.name, 1), schedule: fmt.Sprintf("examples/convs/conv%s_n1_%s.schedule", l.name, k)})
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
		"compile cold": "RIPC_CACHE_DIR=$(mktemp -d) bin/ripc compile examples/squeezenet/squeezenet.json -o build/numbers/squeezenet",
		"compile warm": "bin/ripc compile examples/squeezenet/squeezenet.json -o build/numbers/squeezenet",
		"verify":       "bin/ripc verify examples/squeezenet/squeezenet.json",
	}
}

// read reads docs/numbers.json, in which all figures must be.
func read(file string) (*Numbers, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := &Numbers{}
	if err := json.Unmarshal(data, n); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	want := map[string]string{}
	for _, b := range benches() {
		want[b.name] = b.command()
	}
	for name, c := range commands() {
		want[name] = c
	}
	for name, command := range want {
		f, ok := n.Figures[name]
		switch {
		case !ok || f.Command != command:
			return nil, fmt.Errorf("%s: figure %q of %q is missing; run make numbers", file, name, command)
		case f.Simulated && f.Instructions == nil, !f.Simulated && (f.MinMS == nil || f.MedianMS == nil):
			return nil, fmt.Errorf("%s: figure %q is empty; run make numbers", file, name)
		}
	}
	if len(n.Figures) != len(want) {
		return nil, fmt.Errorf("%s has %d figures, want %d; run make numbers", file, len(n.Figures), len(want))
	}
	return n, nil
}
