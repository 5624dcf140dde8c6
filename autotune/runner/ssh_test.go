package runner_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/engine"
	"ripc/internal/need"
	"ripc/internal/sshtest"
	"ripc/measure"
	"ripc/runtime"
	"ripc/targets"
	"ripc/targets/guests"
)

// workers are those that were built, by architecture.
var workers = map[string][]byte{}

// buildWorker puts a worker for an architecture beside the test, where it is looked for. It is built once, and as tests are, so that it
// shares their packages.
func buildWorker(t *testing.T, arch string) {
	t.Helper()
	guest, ok := guests.Of(arch)
	if !ok {
		t.Fatal(arch)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(self), runner.WorkerName(arch))
	t.Cleanup(func() { _ = os.Remove(path) })
	if program, ok := workers[arch]; ok {
		need.OK(t, os.WriteFile(path, program, 0o700))
		return
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags=ripc_static", "-o", path, "ripc/cmd/ripc-worker")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), guest.Go...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	workers[arch], err = os.ReadFile(path)
	need.OK(t, err)
}

func TestSSH(t *testing.T) {
	server := sshtest.Start(t)
	buildWorker(t, runtime.HostArch())
	buildWorker(t, "aarch64")
	// A wrapper that leaves its process's number, so that connections can be cut.
	pid := filepath.Join(t.TempDir(), "pid")
	wrapper := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(wrapper, fmt.Appendf(nil, "#!/bin/sh\necho $$ > %s\nexec \"$@\"\n", pid), 0o700); err != nil {
		t.Fatal(err)
	}
	o := runner.Options{SSH: append([]string{wrapper}, server.SSH...)}
	name := "ssh:" + server.Address
	r := open(t, name, targets.HostName, o)
	behaves(t, r, targets.HostName)
	if m := r.Machine(); !strings.HasSuffix(m.Host, "@127.0.0.1") || m.Simulated || r.Slots() != 1 || r.Unit() != records.Nanoseconds {
		t.Errorf("%+v, %d slots, %v", m, r.Slots(), r.Unit())
	}
	j := runner.NewJob(kernel(t, targets.HostName, 1), input(), runner.Settings{})
	measures := func(what string, r runner.Runner) {
		t.Helper()
		if got, err := r.Measure(t.Context(), j); err != nil || !reflect.DeepEqual(got.Outputs, output()) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	cut := func() {
		t.Helper()
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(n)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cut()
	measures("behind a cut", r)
	time.AfterFunc(300*time.Millisecond, cut)
	slow := runner.NewJob(j.Library, j.Inputs, runner.Settings{MinTime: time.Second, MaxTime: 2 * time.Second})
	if got, err := r.Measure(t.Context(), slow); err != nil || !reflect.DeepEqual(got.Outputs, output()) {
		t.Errorf("a cut in the middle: %+v, %v", got, err)
	}

	// A worker that does not answer is a candidate that hangs.
	runner.SetPatience(r, -900*time.Millisecond)
	slow = runner.NewJob(j.Library, j.Inputs, runner.Settings{Limit: time.Second, MinTime: 900 * time.Millisecond, MaxTime: 900 * time.Millisecond})
	if got, err := r.Measure(t.Context(), slow); err != nil || got.Measurement.Failure == nil || got.Measurement.Failure.Kind != records.TimedOut {
		t.Errorf("a worker that is silent: %+v, %v", got, err)
	}
	runner.SetPatience(r, time.Minute)
	measures("behind silence", r)

	workers := func() []string {
		all, err := filepath.Glob(filepath.Join(server.Cache, "ripc", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	installed := workers()
	if len(installed) != 1 {
		t.Fatalf("there are %v", installed)
	}
	before, err := os.Stat(installed[0])
	if err != nil {
		t.Fatal(err)
	}
	measures("again", open(t, name, targets.HostName, o))
	if after, err := os.Stat(installed[0]); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the worker was copied again: %v", err)
	}
	for what, damage := range map[string]func([]byte) []byte{
		"cut off": func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
		"changed": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"another": func([]byte) []byte { return []byte("#!/bin/sh\necho hello\n") },
	} {
		program, err := os.ReadFile(installed[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(installed[0]); err != nil { // it runs, and cannot be written to
			t.Fatal(err)
		}
		if err := os.WriteFile(installed[0], damage(program), 0o700); err != nil {
			t.Fatal(err)
		}
		measures("a worker that is "+what, open(t, name, targets.HostName, o))
	}
	if err := runner.Remove(t.Context(), name, o); err != nil || len(workers()) != 0 {
		t.Errorf("removed: %v, %v", workers(), err)
	}

	var lost *runner.LostError
	tg, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Open(t.Context(), name, tg, o); !errors.As(err, &lost) || !strings.Contains(fmt.Sprint(err), `the worker for aarch64 does not start there, where the machine is "x86_64": `) {
		t.Errorf("for a target that the machine is not: %v", err)
	}
	if all := workers(); len(all) != 0 {
		t.Errorf("%v were left there", all)
	}
	host, err := targets.Lookup(targets.HostName)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"ssh:nobody@127.0.0.1:1", "ssh:-oProxyCommand=x", "ssh:a b", "ssh:a'b"} {
		if _, err := runner.Open(t.Context(), bad, host, o); !errors.As(err, &lost) || lost.Runner != bad {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSSHBoards measures by the workers of boards, which qemu-user runs. A worker for another architecture needs Go's library for it.
func TestSSHBoards(t *testing.T) {
	server := sshtest.Start(t)
	takes := need.Part(t, 2)
	for i, c := range []struct{ target, arch, cpu string }{{"rpi3", "aarch64", "cortex-a53"}, {"rpi3-armv7", "arm", "max"}, {"riscv64", "riscv64", "rv64"}} {
		if !takes(i) {
			continue
		}
		t.Run(c.target, func(t *testing.T) {
			qemu, err := exec.LookPath("qemu-" + c.arch)
			need.OK(t, err)
			buildWorker(t, c.arch)
			r := open(t, "ssh:"+server.Address, c.target, runner.Options{SSH: server.SSH, Through: []string{qemu, "-cpu", c.cpu}})
			behaves(t, r, c.target)
		})
	}
}

// TestReach runs, measures and stops artifacts on a board, as an engine.
func TestReach(t *testing.T) {
	server := sshtest.Start(t)
	qemu, err := exec.LookPath("qemu-aarch64")
	need.OK(t, err)
	o := runner.Options{SSH: server.SSH, Through: []string{qemu, "-cpu", "cortex-a53"}}
	buildWorker(t, "aarch64")
	library := kernel(t, "rpi3", 1)
	open := func(library []byte, limit time.Duration) engine.Engine {
		t.Helper()
		e, err := engine.OpenLibrary(library, engine.Options{Threads: 2, Limit: limit, Elsewhere: func(path string) (engine.Far, error) {
			return runner.Reach(t.Context(), "ssh:"+server.Address, path, o)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	e := open(library, 0)
	if e.Kind() != engine.Remote || e.Describe().Target != "rpi3" {
		t.Errorf("%v, for %s", e.Kind(), e.Describe().Target)
	}
	for range 2 { // the second time, on what the first left
		r, err := e.Run(t.Context(), []engine.Job{{Inputs: input(), Last: 1, Outputs: true, Fill: 9}, {Last: 1, Keep: true}})
		if err != nil || runner.Hash(r[0].Outputs[0]) != output()[0] || runner.Hash(r[1].Memory.Outputs[0]) != output()[0] || r[1].Outputs != nil || r[0].Counters.Took <= 0 || r[0].Counters.GHz <= 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	m, err := engine.Measure(t.Context(), e, input(), engine.MeasureOptions{Stages: true, Budget: measure.Quick()})
	if err != nil || m.Kind != engine.Remote || m.Runs < 5 || len(m.Stages) != 1 || m.Network.MinMS == nil || m.GHz == nil || m.Stages[0].MinMS == nil {
		t.Errorf("%+v, %v", m, err)
	}
	var fault *engine.FaultError
	for what, c := range map[string]struct {
		code  map[elf.Machine][]byte
		fault engine.Fault
		limit time.Duration
	}{"crash": {crash, engine.Crashed, time.Minute}, "status": {status, engine.Failed, time.Minute}, "hang": {hang, engine.TimedOut, time.Second}} {
		if _, err := open(patched(t, library, c.code), c.limit).Run(t.Context(), []engine.Job{{Inputs: input(), Last: 1}}); !errors.As(err, &fault) || fault.Fault != c.fault {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := e.Run(t.Context(), []engine.Job{{Inputs: [][]byte{{1}}, Last: 1}}); err == nil {
		t.Error("a wrong input: no error")
	}
	if _, err := e.Run(t.Context(), []engine.Job{{Inputs: input(), Last: 1}}); err != nil {
		t.Errorf("behind a wrong input: %v", err)
	}
}
