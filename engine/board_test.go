package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/engine"
	"ripc/engine/bareboard"
	"ripc/engine/estimate"
	"ripc/internal/need"
	"ripc/runtime/describe"
	"ripc/targets/boards"
)

// floats are the bytes of xs.
func floats(xs ...float32) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// tiny is the path of a program for b with the network by hand in bareboard/testdata: y = 2*x + 1 in two stages.
func tiny(t *testing.T, b boards.Board) string {
	t.Helper()
	s := bareboard.Source{Name: "tiny", Inputs: 1, Outputs: 1}
	var err error
	if s.Header, err = os.ReadFile("bareboard/testdata/tiny.h"); err != nil {
		t.Fatal(err)
	}
	if s.Code, err = os.ReadFile("bareboard/testdata/tiny.c"); err != nil {
		t.Fatal(err)
	}
	s.Code = append([]byte("#define TINY_TARGET \""+b.Target+"\"\n"), s.Code...)
	path := filepath.Join(t.TempDir(), "tiny.elf")
	program, err := bareboard.Build(t.Context(), s, b)
	if missing := (*bareboard.ToolError)(nil); errors.As(err, &missing) {
		need.Board(t, err)
	}
	if err == nil {
		err = os.WriteFile(path, program, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMicrocontrollers(t *testing.T) {
	for _, b := range boards.All() {
		t.Run(b.Target, func(t *testing.T) {
			need.Board(t, nil)
			path := tiny(t, b)
			e, err := engine.Open(path, engine.Options{Limit: 2 * time.Second})
			if missing := (*bareboard.ToolError)(nil); errors.As(err, &missing) {
				need.Board(t, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			run := func(jobs ...engine.Job) []engine.Result {
				t.Helper()
				r, err := e.Run(t.Context(), jobs)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			work := describe.Tensor{Name: "w", DType: "f32", Shape: []int{4}, Where: "arena"}
			x, other := floats(1, 2, 3, 4), floats(5, 6, 7, 8)
			r := run(engine.Job{Inputs: [][]byte{x}, Last: 2, Outputs: true, Fill: 9}, engine.Job{Inputs: [][]byte{other}, Last: 2})
			if !bytes.Equal(r[0].Outputs[0], floats(3, 5, 7, 9)) || r[0].Memory != nil || r[1].Outputs != nil {
				t.Errorf("whole inferences: %+v", r)
			}
			r = run(engine.Job{Inputs: [][]byte{x}, Fill: 9, Keep: true}, engine.Job{Last: 1, Keep: true})
			before, after := r[0].Memory, r[1].Memory
			if !bytes.Equal(after.At(work), floats(2, 4, 6, 8)) || bytes.Equal(before.At(work), after.At(work)) ||
				!bytes.Equal(after.Outputs[0], before.Outputs[0]) || before.Outputs[0][1] == 0 || !bytes.Equal(after.Inputs[0], x) {
				t.Errorf("stage by stage: %+v, %+v", before, after)
			}
			// On from the last call, and from what an earlier job left.
			if last := run(engine.Job{First: 1, Last: 2, Outputs: true}); !bytes.Equal(last[0].Outputs[0], floats(3, 5, 7, 9)) {
				t.Errorf("going on: %v", last[0].Outputs)
			}
			run(engine.Job{Inputs: [][]byte{other}, Last: 2})
			if again := run(engine.Job{From: after, First: 1, Last: 2, Outputs: true}); !bytes.Equal(again[0].Outputs[0], floats(3, 5, 7, 9)) {
				t.Errorf("from memory: %v", again[0].Outputs)
			}

			f, _ := engine.FootprintOf(e)
			if f.Board != b.Title || f.Stack < 16 || f.RAM < 96 || f.Flash < 512 || f.FlashLimit <= f.Flash || f.RAMLimit <= f.RAM {
				t.Errorf("footprint: %+v", f)
			}
			for what, c := range map[string]struct {
				x     float32
				fault engine.Fault
			}{"behind the output": {12, engine.Overran}, "outside of memory": {13, engine.Crashed}, "for ever": {14, engine.TimedOut},
				"status 2": {15, engine.Failed}} {
				var fault *engine.FaultError
				_, err := e.Run(t.Context(), []engine.Job{{Inputs: [][]byte{floats(c.x, 0, 0, 0)}, Last: 1}})
				if !errors.As(err, &fault) || fault.Fault != c.fault {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := e.Run(t.Context(), []engine.Job{{Inputs: [][]byte{x}, Last: 3}}); err == nil {
				t.Error("stage 2: no error")
			}
			var threads *engine.ThreadsError
			if _, err := engine.Open(path, engine.Options{Threads: 2}); !errors.As(err, &threads) || threads.Most != 1 {
				t.Errorf("two threads: %v", err)
			}
			counter, err := engine.Open(path, engine.Options{Count: true})
			if err != nil {
				t.Fatal(err)
			}
			defer counter.Close()
			if m, err := engine.Measure(t.Context(), counter, [][]byte{x}, engine.MeasureOptions{Stages: true}); err != nil || len(m.Stages) != 2 ||
				m.Network.Instructions == nil || *m.Network.Instructions < 20 || *m.Network.Instructions > 1000 {
				t.Errorf("counting: %+v, %v", m, err)
			} else if m.Network.EstimatedCycles != nil || m.Estimate.Why == nil {
				t.Errorf("cycles that nobody asked for: %+v", m)
			}
			cycles, err := engine.Open(path, engine.Options{Count: true, Cycles: true})
			if err != nil {
				t.Fatal(err)
			}
			defer cycles.Close()
			m, err := engine.Measure(t.Context(), cycles, [][]byte{x}, engine.MeasureOptions{Stages: true})
			switch n := m.Network; {
			case err != nil:
				t.Error(err)
			case b.Timings == nil:
				if !errors.Is(m.Estimate.Why, estimate.ErrNoTimings) || n.EstimatedCycles != nil || n.Instructions == nil {
					t.Errorf("cycles of a core without timings: %+v", m)
				}
			case n.EstimatedCycles == nil:
				t.Errorf("no cycles: %v", m.Estimate.Why)
			case *n.EstimatedCycles < float64(*n.Instructions) || *n.EstimatedCycles > 3*float64(*n.Instructions) || m.Estimate.Manual == "" || m.Estimate.Unknown > 0:
				t.Errorf("%v cycles of %d instructions: %+v", *n.EstimatedCycles, *n.Instructions, m.Estimate)
			}
			t.Setenv("PATH", t.TempDir())
			if _, err := engine.Open(path, engine.Options{}); err == nil || !strings.Contains(err.Error(), boards.Install) {
				t.Errorf("without a simulator: %v", err)
			}
		})
	}
}
