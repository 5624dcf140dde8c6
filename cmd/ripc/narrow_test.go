package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ripc"
	"ripc/autotune"
	"ripc/autotune/space"
)

// TestNarrowTerminals: the tables of the memory and of a tuner's end fit terminals of 40 to 80 columns; elsewhere nothing is missing.
func TestNarrowTerminals(t *testing.T) {
	const long = "model/stage3/unit2/residual/conv_7"
	in := &ripc.Inspection{Name: "network", Target: "rpi3", Memory: &ripc.Memory{Workspace: ripc.Workspace{ArenaBytes: 1 << 20}, LowerBound: 1 << 19, NoTwin: "it is made of a model, and this is a compiled network"}}
	for i := range 12 {
		in.Memory.Stages = append(in.Memory.Stages, ripc.StageMemory{Name: long, Bytes: 123456})
		in.Memory.Arena = append(in.Memory.Arena, ripc.ArenaUse{Name: long + "_output_0", Offset: int64(i) << 16, Bytes: 1 << 16, First: i, Last: i})
	}
	tuned := &ripc.TuneResult{Unit: "estimated cycles", Default: 1.25e6, Best: 1e6, Trials: 128, Measured: 100, Took: time.Minute, Busy: autotune.Busy{Cores: 2, Proposing: time.Second, Building: time.Minute}}
	for _, best := range []float64{0, 9.5e5} {
		task := autotune.TaskResult{Trials: 17, Default: 1.2e6, Best: best, Task: &space.Task{Layers: []string{long, long}, Algorithm: "popcount"}}
		tuned.Tasks = append(tuned.Tasks, task)
	}
	for name, print := range map[string]func(b *bytes.Buffer, width int){
		"memory": func(b *bytes.Buffer, width int) { printMemory(b, in, width) },
		"tuned":  func(b *bytes.Buffer, width int) { printTuned(b, tuned, "ripc.records", width) },
	} {
		for width := 40; width <= 80; width++ {
			var b bytes.Buffer
			print(&b, width)
			for _, line := range strings.Split(b.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: %d characters in a line of %d:\n%s", name, n, width, b.String())
					break
				}
			}
		}
		var b bytes.Buffer
		if print(&b, 0); !strings.Contains(b.String(), long) || strings.Contains(b.String(), "…") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestNarrowProgress: what a tuner does is told in one line of a terminal, as it is written over: names are cut first, then the bar goes, and the time
// that is left stays.
func TestNarrowProgress(t *testing.T) {
	began := ripc.TuneBegan{Trials: 512, Unit: "cycles"}
	tried := ripc.TuneTried{Task: &space.Task{Layers: []string{"model/stage3/unit2/residual/conv_7", "another"}, Algorithm: "popcount_dense16"}, Default: 1.2e6, Best: 1e6,
		NetworkDefault: 5e6, NetworkBest: 4e6, Done: 400, Left: 200 * time.Second}
	if got := tuneLine(began, tried, 0); !strings.HasSuffix(got, "] 400 of 512  model/stage3/unit2/residual/conv_7 and 1 more by popcount_dense16 1.20x  network 4.00 M cycles, 1.25x  3m20s left") {
		t.Error(got)
	}
	for width := 20; width <= 140; width++ {
		got := tuneLine(began, tried, width)
		if n := utf8.RuneCountInString(got); n > width || width >= 60 && !strings.HasSuffix(got, " 3m20s left") || width >= 95 && !strings.HasPrefix(got, "[") {
			t.Errorf("%d characters for %d: %s", n, width, got)
		}
	}
	var b bytes.Buffer
	p := &progress{w: &b, terminal: true, columns: 20}
	p.say(func() string { return "…345678901234567890123" })
	p.done()
	if got := b.String(); got != "\r…34567890123456789…\r                   \r" {
		t.Errorf("%q", got)
	}
}
