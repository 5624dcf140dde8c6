package runner_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/internal/need"
	"ripc/runtime"
	"ripc/targets"
)

// open opens a runner until the test ends.
func open(t testing.TB, name, target string, o runner.Options) runner.Runner {
	t.Helper()
	tg, err := targets.Lookup(target)
	need.OK(t, err)
	r, err := runner.Open(t.Context(), name, tg, o)
	need.OK(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// behaves checks what every runner does with kernels, good and bad ones.
func behaves(t *testing.T, r runner.Runner, target string) {
	good := kernel(t, target, 1)
	limit := runner.Settings{Limit: 30 * time.Second} // on a busy machine
	measure := func(library []byte) runner.Result {
		t.Helper()
		j := runner.NewJob(library, input(), limit)
		got, err := r.Measure(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != j.ID {
			t.Errorf("the result of job %s names %s", j.ID, got.ID)
		}
		return got
	}
	got := measure(good)
	m := got.Measurement
	if m.Failure != nil || !reflect.DeepEqual(got.Outputs, output()) || m.Unit != r.Unit() || m.Cost <= 0 || m.Low > m.Cost || m.High < m.Cost || len(m.Samples) == 0 {
		t.Errorf("a good kernel: %+v", got)
	}
	expected := r.Machine()
	if expected.Host == "" {
		expected.Host = got.Machine.Host // which of a fleet's workers it is shows behind
	}
	if got.Machine.CPU == "" || got.Machine != expected {
		t.Errorf("machines %+v and %+v", got.Machine, r.Machine())
	}
	once, eight := m.Cost, measure(kernel(t, target, 8)).Measurement.Cost
	for range 20 { // the least of several, as other work on the machine makes one measurement longer, not the other
		if eight >= 4*once && eight <= 16*once {
			break
		}
		limit.Limit += time.Second // another job: a fleet keeps the results of those that it has done
		once, eight = min(once, measure(good).Measurement.Cost), min(eight, measure(kernel(t, target, 8)).Measurement.Cost)
	}
	if eight < 4*once || eight > 16*once {
		t.Errorf("eight times the work costs %v, once %v", eight, once)
	}
	if failure := measure(patched(t, good, crash)).Measurement.Failure; failure == nil || failure.Kind != records.Crashed || failure.Text == "" {
		t.Errorf("a crash: %+v", failure)
	}
	if failure := measure(patched(t, good, status)).Measurement.Failure; failure == nil || failure.Kind != records.Crashed {
		t.Errorf("a status: %+v", failure)
	}
	if got := measure(patched(t, good, nothing)); got.Measurement.Failure == nil && reflect.DeepEqual(got.Outputs, output()) {
		t.Errorf("a kernel that does nothing: %+v", got)
	}
	limit.Limit = 300 * time.Millisecond
	if failure := measure(patched(t, good, hang)).Measurement.Failure; failure == nil || failure.Kind != records.TimedOut {
		t.Errorf("a kernel that hangs: %+v", failure)
	}
	limit.Limit = 0
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.Measure(ctx, runner.NewJob(patched(t, good, hang), input(), limit)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
	if got := measure(good); got.Measurement.Failure != nil || !reflect.DeepEqual(got.Outputs, output()) {
		t.Errorf("after all that: %+v", got)
	}
}

func TestQemu(t *testing.T) {
	for target, unit := range map[string]records.Unit{"rpi3": records.Cycles, "rpi3-armv7": records.Cycles, "riscv64": records.Instructions} {
		t.Run(target, func(t *testing.T) {
			r := open(t, "qemu", target, runner.Options{})
			behaves(t, r, target)
			j := runner.NewJob(kernel(t, target, 2), input(), runner.Settings{})
			first, err := r.Measure(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := r.Measure(t.Context(), j); err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("%+v, then %+v, %v", first, again, err)
			}
			if !first.Machine.Simulated || first.Measurement.Instructions == 0 || first.Measurement.GHz != 0 {
				t.Errorf("%+v", first)
			}
			if r.Unit() != unit || r.Slots() < 1 {
				t.Errorf("%v, %d slots", r.Unit(), r.Slots())
			}
		})
	}
}

func TestLocal(t *testing.T) {
	r := open(t, "local", targets.HostName, runner.Options{})
	behaves(t, r, targets.HostName)
	library := kernel(t, targets.HostName, 1)
	measure := func(s runner.Settings) records.Measurement {
		t.Helper()
		got, err := r.Measure(t.Context(), runner.NewJob(library, input(), s))
		if err != nil || got.Measurement.Failure != nil || !reflect.DeepEqual(got.Outputs, output()) {
			t.Fatalf("%+v: %+v, %v", s, got, err)
		}
		return got.Measurement
	}
	warm := measure(runner.Settings{})
	if warm.GHz < 0.1 || warm.GHz > 10 || warm.Instructions != 0 {
		t.Errorf("%+v", warm)
	}
	if cold := measure(runner.Settings{Cold: true}); cold.Cost < warm.Cost {
		t.Errorf("%v ns with cold caches, %v with warm ones", cold.Cost, warm.Cost)
	}
	measure(runner.Settings{Threads: 2})
	// What is beaten is not measured for long.
	start := time.Now()
	measure(runner.Settings{Best: warm.Cost / 100, Interval: 1e-9, MaxTime: 20 * time.Second})
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("what is clearly worse was measured for %v", took)
	}
	for _, target := range []string{"rpi3", "rpi2"} {
		tg, err := targets.Lookup(target)
		if err != nil {
			t.Fatal(err)
		}
		var lost *runner.LostError
		if _, err := runner.Open(t.Context(), "local", tg, runner.Options{}); tg.Arch != runtime.HostArch() && !errors.As(err, &lost) {
			t.Errorf("local for %s: %v", target, err)
		}
	}
}

func TestOpenRefusals(t *testing.T) {
	tg, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "QEMU", "qemu:x", "ssh", "ssh:"} {
		var unknown *runner.NameError
		if _, err := runner.Open(t.Context(), name, tg, runner.Options{}); !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	r := open(t, "qemu", "rpi3", runner.Options{})
	if _, err := r.Measure(t.Context(), runner.NewJob(kernel(t, "rpi2", 1), input(), runner.Settings{})); err == nil {
		t.Error("a kernel for another target is measured")
	}
	if _, err := r.Measure(t.Context(), runner.NewJob(kernel(t, "rpi3", 1), nil, runner.Settings{})); err == nil {
		t.Error("a kernel is measured without its inputs")
	}
}
