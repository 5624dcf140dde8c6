package simulate_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ripc/engine/simulate"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// each runs a test with the description of the network for each architecture: this machine's directly, others under qemu.
func each(t *testing.T, test func(t *testing.T, d *describe.Artifact, o simulate.Options)) {
	both(t, func(t *testing.T, d *describe.Artifact) { test(t, d, simulate.Options{}) })
	t.Run("direct", func(t *testing.T) {
		d := twoStage()
		d.Target, d.Arch, d.CPU, d.QemuCPU = "host", runtime.HostArch(), "generic", ""
		test(t, d, simulate.Options{Direct: true})
	})
}

// TestTime runs two stages by one and by three threads, once and many times.
func TestTime(t *testing.T) { each(t, testTime) }

func testTime(t *testing.T, d *describe.Artifact, o simulate.Options) {
	m := open(t, build(t, d, nil), o)
	in, _, out := inputs(t, m.Description(), 3)
	for _, threads := range []int{1, 3} {
		for _, cold := range []int64{0, 1 << 20} {
			p, err := m.Start(t.Context(), []simulate.Job{{Inputs: in, Last: 2, Threads: threads}}, cold)
			if err != nil {
				t.Fatal(err)
			}
			first, err := p.Time(simulate.Timing{Samples: 1, Calls: 1, Budget: time.Second})
			if err != nil || len(first.Samples) != 1 {
				t.Fatalf("%+v, %v", first, err)
			}
			many, err := p.Time(simulate.Timing{Samples: 20, Calls: 3, Budget: 10 * time.Second})
			if err != nil || len(many.Samples) != 20 {
				t.Fatalf("%+v, %v", many, err)
			}
			for _, s := range many.Samples {
				if s < 10 || s > 1e9 {
					t.Errorf("%d threads: %v ns", threads, s)
				}
			}
			if many.GHz < 0.005 || many.GHz > 10 {
				t.Errorf("%v GHz", many.GHz)
			}
			some, err := p.Time(simulate.Timing{Samples: simulate.MaxSamples, Calls: 1 << 10, Budget: time.Millisecond})
			if err != nil || len(some.Samples) == 0 || len(some.Samples) == simulate.MaxSamples {
				t.Errorf("%d samples in a millisecond, %v", len(some.Samples), err)
			}
			if _, err := p.Time(simulate.Timing{Calls: 1}); err == nil {
				t.Error("no samples: no error")
			}
			got, err := p.Finish()
			if err != nil || len(got) != 2 || !bytes.Equal(got[0].Outputs[0], out) || !bytes.Equal(got[1].Outputs[0], out) {
				t.Errorf("%d threads: wrong outputs, %v", threads, err)
			}
			if _, err := p.Time(simulate.Timing{Samples: 1, Calls: 1}); err == nil {
				t.Error("timed after its end")
			}
		}
	}
}

// TestDirect runs this machine's code without a simulator: whole, in stages, and when it goes wrong.
func TestDirect(t *testing.T) {
	d := twoStage()
	d.Target, d.Arch, d.CPU, d.QemuCPU = "host", runtime.HostArch(), "generic", ""
	m := open(t, build(t, d, nil), simulate.Options{Direct: true})
	in, _, out := inputs(t, m.Description(), 3)
	got, err := m.Run(t.Context(), []simulate.Job{{Inputs: in, Last: 1, Threads: 2}, {Continue: true, First: 1, Last: 2, Threads: 1, Keep: true}})
	if err != nil || !bytes.Equal(got[1].Outputs[0], out) || got[1].Workspace == nil {
		t.Errorf("in stages: %v", err)
	}
	if _, err := simulate.Open(build(t, twoStage(), nil), simulate.Options{Direct: true}); runtime.HostArch() != "aarch64" {
		var arch *runtime.ArchError
		if !errors.As(err, &arch) {
			t.Errorf("another machine's: %v", err)
		}
	}
	d.Features = []string{"no-such-feature"}
	var missing *runtime.FeatureError
	if _, err := simulate.Open(build(t, d, nil), simulate.Options{Direct: true}); !errors.As(err, &missing) {
		t.Errorf("a feature that this machine has not: %v", err)
	}
	if simulate.Supports("x86_64") {
		t.Error("x86-64 is said to be simulated")
	}
}

// TestTimeFaults times code that goes wrong at the second call.
func TestTimeFaults(t *testing.T) { each(t, testTimeFaults) }

func testTimeFaults(t *testing.T, d *describe.Artifact, o simulate.Options) {
	for what, c := range map[string]struct {
		text, want string
		limit      time.Duration
	}{
		"crash": {"call void @llvm.trap()\n  unreachable", "ended in job 1", time.Minute},
		"hang":  {"br label %second", "stopped", 2 * time.Second},
	} {
		path := build(t, d, func(s string) string {
			const counted = "  store i32 %calls1, ptr %mine\n  br label %head\n"
			return strings.Replace(s, counted, "  store i32 %calls1, ptr %mine\n  %again = icmp ugt i32 %calls1, 1\n  br i1 %again, label %second, label %head\nsecond:\n  "+c.text+"\n", 1) +
				"declare void @llvm.trap()\n"
		})
		ctx, cancel := context.WithTimeout(t.Context(), c.limit)
		m := open(t, path, o)
		in, _, _ := inputs(t, m.Description(), 3)
		_, err := m.Start(ctx, []simulate.Job{{Inputs: in, Last: 2, Threads: 1}}, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}
