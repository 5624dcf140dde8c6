package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ripc"
	"ripc/engine"
	"ripc/engine/simulate"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/tools"
	"ripc/ir"
	"ripc/targets"
)

var (
	cases = flag.Int("cases", 0, "random networks that TestRandomNetworks compiles: 60, or 300 in make thorough, if it is 0")
	from  = flag.Int("from", 0, "the first of them")
	only  = flag.String("targets", "", "their targets: a regular expression")
)

// batch is how many cases are compiled into one library and run by one process. The tools take longer to start than to
// compile a layer.
const batch = 10

// TestRandomNetworks compiles random networks of odd shapes, each for one target and half of their layers with random
// schedules, and lets verify compare every stage and the whole networks, bit for bit, with the interpreter of the
// unscheduled Funcs, natively and under qemu. The number of a case says everything about it: what fails is repeated with
// -from and -cases. A case is a network on a target; ten of them make one program.
func TestRandomNetworks(t *testing.T) {
	t.Parallel()
	r := newRandomRun(t)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n := *cases
	if n == 0 {
		n = 60
		if need.Thorough() {
			n = 300
		}
	}
	first, last := *from/batch, (*from+n+batch-1)/batch
	next := atomic.Int64{}
	next.Store(int64(first))
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for ctx.Err() == nil {
				b := int(next.Add(1)) - 1
				if b >= last {
					return
				}
				target := r.boards[b%len(r.boards)]
				// make test prints these labels should compiled code crash.
				labels := pprof.Labels("cases", fmt.Sprintf("-from %d -cases %d", b*batch, batch), "target", target)
				pprof.Do(ctx, labels, func(ctx context.Context) { r.batch(ctx, t, b, target) })
			}
		})
	}
	all.Wait()
	t.Logf("%s", r.String())
	if ctx.Err() != nil {
		t.Fatalf("interrupted; go on with -from %d", max(first, int(next.Load())-runtime.GOMAXPROCS(0))*batch)
	}
}

// randomRun counts what the cases were.
type randomRun struct {
	boards []string
	start  time.Time

	mu     sync.Mutex
	shown  time.Time
	cases  map[string]int // by target
	stages int
	traces int // Funcs with random schedules
	funcs  int
	failed int
}

func newRandomRun(t *testing.T) *randomRun {
	r := &randomRun{start: time.Now(), shown: time.Now(), cases: map[string]int{}}
	names := []string{"x86-64", "rpi3", "x86-64-v3", "rpi3-armv7", "x86-64-v4", "rpi5"}
	for _, tg := range targets.All() {
		if !tg.Bare && !tg.IsDevice() && !slices.Contains(names, tg.Name) { // chips: TestMicrocontrollersRandom
			names = append(names, tg.Name)
		}
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !chosen.MatchString(name) {
			continue
		}
		tg, err := ripcTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		switch h, err := targets.Host(); {
		case sandboxed(tg):
			if _, err := tools.FindNode("for relaxed SIMD"); err != nil && tg.Has("relaxed-simd") {
				t.Logf("no cases for %s: %v", name, err)
				continue
			}
		case err != nil || tg.Arch != h.Arch:
			if qemu := need.Tool(t, "qemu-"+tg.Arch); !hasCPU(t, qemu, tg) {
				t.Logf("no cases for %s: this simulator has no CPU %s", name, tg.QemuCPU)
				continue
			}
		case !tg.Native():
			t.Logf("no cases for %s: this machine lacks %v", name, tg.Missing(targets.HostFeatures()))
			continue
		}
		r.boards = append(r.boards, name)
	}
	if len(r.boards) == 0 {
		t.Fatalf("-targets %q: no target whose cases can run here, of %s", *only, strings.Join(names, ", "))
	}
	r.boards = append(r.boards, r.boards[:min(6, len(r.boards))]...) // the first six get twice as many cases as the others
	return r
}

// hasCPU reports whether a simulator has the CPU of a target: on it, the runner says that it got no image. Version 7 of qemu ends
// where RISC-V converts vectors of floats.
func hasCPU(t *testing.T, qemu string, tg targets.Target) bool {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), qemu, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if tg.Has("v") && strings.Contains(string(version), " version 7.") {
		return false
	}
	program, err := simulate.Program(t.Context(), tg.Arch)
	need.OK(t, err)
	path := filepath.Join(t.TempDir(), "runner")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	return errors.As(exec.CommandContext(t.Context(), qemu, "-cpu", tg.QemuCPU, path).Run(), &exit) && exit.ExitCode() == 120
}

// sandboxed reports whether a virtual machine of this process runs code for a target.
func sandboxed(t targets.Target) bool {
	return engine.Choose(t.Arch, t.Features, engine.Options{}) == engine.Sandboxed
}

func ripcTarget(name string) (targets.Target, error) {
	if name == targets.HostName {
		return targets.Host()
	}
	return targets.Lookup(name)
}

// definition is the unscheduled Program that is compiled of a model.
func definition(ctx context.Context, path string, o ripc.Options) (*ir.Program, error) {
	c, err := ripc.Compile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return c.Program, nil
}

// batch makes and compares ten networks.
func (r *randomRun) batch(ctx context.Context, t *testing.T, b int, target string) {
	g := rand.New(rand.NewPCG(uint64(b), 77))
	var texts []map[string]any
	for i := range batch {
		texts = append(texts, randnet.Model(rand.New(rand.NewPCG(uint64(b*batch+i), 77)), fmt.Sprintf("c%d_", b*batch+i)))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "net.json")
	err := os.WriteFile(path, randnet.Join(texts, b), 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	o := ripc.Options{Target: target, PackApart: rand.New(rand.NewPCG(uint64(b), 78)).IntN(4) == 0}
	var p *ir.Program
	if b%2 == 0 {
		p, err = drawnDefinition(ctx, path, &o, g)
	} else if o.Algorithms, err = randomAlgorithms(ctx, path, false, g); err == nil {
		p, err = definition(ctx, path, o)
	}
	var rep *ripc.VerifyReport
	threads := 1 + g.IntN(4)
	if err == nil {
		o.Schedules = randomTraces(p, target, g)
		rep, err = ripc.Verify(ctx, ripc.VerifyRequest{Path: path, Options: o, Seed: uint64(b), Threads: threads})
	}
	if ctx.Err() != nil {
		return
	}
	if err == nil && rep.OK {
		r.done(t, target, len(rep.Stages), len(p.Funcs), len(o.Schedules))
		return
	}
	if err == nil {
		err = errors.New(faults(rep))
	}
	var which strings.Builder
	for i, text := range texts {
		if strings.Contains(err.Error(), fmt.Sprintf("c%d_", b*batch+i)) {
			fmt.Fprintf(&which, "case %d:\n%s\n", b*batch+i, randnet.Encode(text))
		}
	}
	fmt.Fprintf(&which, "algorithms asked for: %v, packed apart: %v\n", o.Algorithms, o.PackApart)
	for _, s := range o.Schedules {
		if strings.Contains(err.Error(), "@"+s.Name) {
			fmt.Fprintf(&which, "random schedule of @%s:\n%s\n", s.Name, s.Trace)
		}
	}
	t.Errorf("%s, %d threads: %v\n%srepeat it with: go test ./e2e -run '^TestRandomNetworks$' -from %d -cases %d -targets '^%s$'", target, threads, err, which.String(), b*batch, batch, target)
	r.done(t, target, 0, 0, 0)
}

// faults lists what verify found.
func faults(rep *ripc.VerifyReport) string {
	var out []string
	for _, s := range rep.Stages {
		if !s.OK && s.Ran {
			out = append(out, fmt.Sprintf("stage %d %q (%s, @%s), %s: %s", s.Stage, s.Name, s.Op, s.Func, s.Suspect,
				strings.Join(s.Findings(), "; ")))
		}
	}
	if rep.Crash != nil {
		out = append(out, fmt.Sprintf("%+v", *rep.Crash))
	}
	for _, d := range rep.Network {
		out = append(out, fmt.Sprintf("network: %v", d))
	}
	return strings.Join(out, "\n")
}

// done counts ten cases, and says once in a while how far the test is.
func (r *randomRun) done(t *testing.T, target string, stages, funcs, traces int) {
	r.mu.Lock()
	r.cases[target] += batch
	r.stages, r.funcs, r.traces = r.stages+stages, r.funcs+funcs, r.traces+traces
	if stages == 0 {
		r.failed++
	}
	say := time.Since(r.shown) > 10*time.Second
	if say {
		r.shown = time.Now()
	}
	r.mu.Unlock()
	if say {
		t.Logf("%s", r.String())
	}
}

func (r *randomRun) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	var parts []string
	seen := map[string]bool{}
	for _, b := range r.boards {
		if !seen[b] {
			parts = append(parts, fmt.Sprintf("%s %d", b, r.cases[b]))
			n += r.cases[b]
		}
		seen[b] = true
	}
	return fmt.Sprintf("%d cases in %s, %d programs failed: %d stages equal the interpreter, %d of %d kernels with random schedules (%s)",
		n, time.Since(r.start).Round(time.Second), r.failed, r.stages, r.traces, r.funcs, strings.Join(parts, ", "))
}
