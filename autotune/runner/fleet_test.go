package runner_test

import (
	"context"
	"reflect"
	"sync"
	"testing"

	"ripc/autotune/hub"
	"ripc/autotune/runner"
	"ripc/targets"
)

// TestFleet measures real kernels on the workers of a hub: on this machine, and simulated. What a fleet does when workers fail is
// tested in package hub.
func TestFleet(t *testing.T) {
	h, err := hub.Start(t.Context(), hub.Options{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	for _, c := range []struct {
		target string
		worker runner.Runner
	}{
		{targets.HostName, runner.Native(runner.Options{})},
		{"rpi3", open(t, "qemu", "rpi3", runner.Options{})},
	} {
		t.Run(c.target, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var wait sync.WaitGroup
			wait.Go(func() {
				if err := (runner.Fleet{URL: h.URL()}).Work(ctx, runner.Announce(c.worker), c.worker.Measure); err != nil {
					t.Error(err)
				}
			})
			t.Cleanup(func() { cancel(); wait.Wait() })
			r := open(t, h.URL(), c.target, runner.Options{})
			behaves(t, r, c.target)
			if r.Unit() != c.worker.Unit() || r.Machine() != c.worker.Machine() || r.Slots() != 2 {
				t.Errorf("%s, %+v, %d slots", r.Unit(), r.Machine(), r.Slots())
			}
			j := runner.NewJob(kernel(t, c.target, 1), input(), runner.Settings{})
			first, err := r.Measure(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := open(t, h.URL(), c.target, runner.Options{}).Measure(t.Context(), j); err != nil || !reflect.DeepEqual(again, first) {
				t.Errorf("asked again: %+v, %v; it was %+v", again, err, first)
			}
		})
	}
}
