package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ripc/engine/simulate"
	"ripc/runtime/describe"
)

// A loop whose number of instructions is known: 1 + 2*1000 + 2.
func TestCount(t *testing.T) { both(t, testCount) }

func testCount(t *testing.T, d *describe.Artifact) {
	text := "\tmov w9, #1000\n1:\tsubs w9, w9, #1\n\tb.ne 1b\n\tmov w0, #0\n\tret"
	if d.Arch == "arm" {
		text = "\tmov r12, #1000\n1:\tsubs r12, r12, #1\n\tbne 1b\n\tmov r0, #0\n\tbx lr"
	}
	path := assemble(t, d, text)
	m := open(t, path, simulate.Options{Count: true})
	in, _, _ := inputs(t, d, 1)
	job := simulate.Job{Inputs: in, Last: 2, Threads: 1}
	got, err := m.Run(context.Background(), []simulate.Job{job, job, job})
	if err != nil {
		t.Fatal(err)
	}
	logged, err := m.WithoutPlugins().Run(context.Background(), []simulate.Job{job, job, job})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, logged...)
	for i, r := range got {
		if r.Instructions != 2003 {
			t.Errorf("job %d: %d instructions, want 2003", i, r.Instructions)
		}
		// The loop's second instruction led to its first 999 times, wherever qemu's pieces begin.
		again, times := uint64(0), map[uint64]uint64{}
		for _, j := range r.Profile.Jumps {
			if j.To == j.From-4 {
				again += j.Times
			}
		}
		for _, p := range r.Profile.Pieces {
			code := m.Code(p.First, p.Last-p.First+4)
			if uint64(len(code)) != 4*p.Instructions {
				t.Errorf("job %d: %d bytes of code for %+v", i, len(code), p)
			}
			for a := p.First; a <= p.Last; a += 4 {
				times[a] += p.Times
			}
		}
		if again != 999 || len(times) != 5 {
			t.Errorf("job %d: %d rounds after the first, instructions at %v", i, again, times)
		}
	}
	job.Threads = 2
	if _, err := m.Run(context.Background(), []simulate.Job{job}); err == nil || !strings.Contains(err.Error(), "counted with 1") {
		t.Errorf("two threads: %v", err)
	}
}

// Counts of the stages add up, and do not change from run to run.
func TestCountStages(t *testing.T) { both(t, testCountStages) }

func testCountStages(t *testing.T, d *describe.Artifact) {
	m := open(t, build(t, d, nil), simulate.Options{Count: true})
	in, _, _ := inputs(t, d, 1)
	var before string
	for range 3 {
		got, err := m.Run(context.Background(), []simulate.Job{
			{Inputs: in, Last: 2, Threads: 1}, {Inputs: in, Last: 1, Threads: 1}, {Continue: true, First: 1, Last: 2, Threads: 1}, {Continue: true, Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		now := fmt.Sprint(got[0].Instructions, got[1].Instructions, got[2].Instructions, got[3].Instructions)
		if before != "" && now != before {
			t.Errorf("counts %s, then %s", before, now)
		}
		before = now
		whole, frame := got[0].Instructions, got[3].Instructions
		if parts := got[1].Instructions + got[2].Instructions - frame; parts < whole-10 || parts > whole+10 || whole < 2048 {
			t.Errorf("the whole takes %d, its stages %d", whole, parts)
		}
	}
	t.Log(before)
}
