package autotune_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ripc/autotune"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/compile"
	"ripc/engine"
	"ripc/fusedglue"
	"ripc/graph"
	"ripc/importer/ripcjson"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/targets"
)

// layer is a convolution of a model, and conv how it is written.
type layer struct {
	name    string
	filters int
}

// model is a network of binary layers over 5x5 pixels of 32 channels.
func model(t testing.TB, layers ...layer) *graph.Graph {
	t.Helper()
	var text strings.Builder
	text.WriteString(`{"format": "ripc.model/1", "name": "net", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 5, 5, 32], "layout": "NHWC"}],
"weights": {"init": "random", "seed": 4}, "outputs": ["` + layers[len(layers)-1].name + `"],
"nodes": [{"name": "q0", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 1, "encoding": "bipolar"}}`)
	last := "q0"
	for i, l := range layers {
		fmt.Fprintf(&text, `,
{"name": %q, "op": "bitserial_conv2d", "inputs": [%q], "attrs": {"filters": %d, "kernel": [3, 3], "padding": "same"}}`, l.name, last, l.filters)
		if i < len(layers)-1 {
			last = fmt.Sprintf("q%d", i+1)
			fmt.Fprintf(&text, `,
{"name": %q, "op": "quantize", "inputs": [%q], "attrs": {"bits": 1, "encoding": "bipolar"}}`, last, l.name)
		}
	}
	text.WriteString("]}")
	return parsed(t, text.String())
}

// parsed is the network of a text, fused; t is a test's or rapid's.
func parsed(t interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}, text string) *graph.Graph {
	t.Helper()
	g, err := ripcjson.Parse("net.json", []byte(text), nil)
	if err == nil {
		g, err = fusedglue.Fuse(t.Context(), g, nil, nil)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return g
}

func network(t testing.TB, layers ...layer) *autotune.Network {
	t.Helper()
	target, err := targets.Lookup(targets.HostName)
	need.OK(t, err)
	return &autotune.Network{Graph: model(t, layers...), Target: target}
}

// inProcess runs kernels in this process. What they cost depends on their code alone.
type inProcess struct {
	mu     sync.Mutex
	jobs   int
	ending int        // after how many jobs it calls end
	end    func()     // nil for never
	wrong  int        // each so many a candidate's outputs are garbage; 0 for none
	lost   int        // after how many jobs it can do no more; 0 for never
	slots  int        // 0 for 2
	late   *rand.Rand // of how long jobs take; nil for no longer than they must
}

func (*inProcess) Machine() records.Machine {
	return records.Machine{CPU: "made up", Simulated: true}
}
func (*inProcess) Unit() records.Unit { return records.Cycles }
func (*inProcess) Here() bool         { return true }
func (p *inProcess) Slots() int       { return cmp.Or(p.slots, 2) }
func (*inProcess) Close() error       { return nil }

func (p *inProcess) Measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	p.mu.Lock()
	p.jobs++
	n := p.jobs
	if p.end != nil && n >= p.ending {
		p.end()
	}
	if p.late != nil {
		defer time.Sleep(time.Duration(p.late.IntN(30)) * time.Millisecond)
	}
	p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return runner.Result{}, err
	}
	if p.lost > 0 && n > p.lost {
		return runner.Result{}, &runner.LostError{Runner: "made up", Err: errors.New("unplugged")}
	}
	e, err := engine.OpenLibrary(j.Library, engine.Options{Threads: 1})
	if err != nil {
		return runner.Result{}, err
	}
	defer e.Close()
	done, err := e.Run(ctx, []engine.Job{{Last: 1, Inputs: j.Inputs, Outputs: true, Fill: runner.Blank(1)[0]}})
	if err != nil {
		return runner.Result{}, err
	}
	h := fnv.New32()
	h.Write(j.Library)
	sum := h.Sum32()
	r := runner.Result{ID: j.ID, Machine: p.Machine()}
	for _, o := range done[0].Outputs {
		if p.wrong > 0 && int(sum)%p.wrong == 0 {
			o[0]++
		}
		r.Outputs = append(r.Outputs, runner.Hash(o))
	}
	cost := float64(1000 + sum%9000)
	r.Measurement = records.Measurement{Cost: cost, Unit: records.Cycles, Low: cost, High: cost, Samples: []float64{cost}}
	return r, nil
}

func tune(t testing.TB, n *autotune.Network, o autotune.Options) (*autotune.Result, error) {
	t.Helper()
	t.Setenv("RIPC_CACHE_DIR", filepath.Join(os.TempDir(), "ripc-autotune-test"))
	return autotune.Tune(t.Context(), n, o)
}

// TestResume: a run that is stopped again and again, after each so many measurements, leaves the same records as one that is not, whatever
// the search; the same call once more measures nothing.
func TestResume(t *testing.T) {
	n := network(t, layer{"a", 32}, layer{"b", 16})
	for _, name := range search.Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			whole, pieces := filepath.Join(dir, "whole"), filepath.Join(dir, "pieces")
			o := autotune.Options{Runner: &inProcess{}, Records: whole, Trials: 40, Seed: 7, Round: 8, Search: name}
			want, err := tune(t, n, o)
			if err != nil || want.Trials != 40 || want.Measured != 40 || want.Best >= want.Default || want.Best <= 0 {
				t.Fatalf("%+v, %v", want, err)
			}
			o.Records = pieces
			stops := 0
			for {
				ctx, stop := context.WithCancel(t.Context())
				o.Runner = &inProcess{ending: 7, end: stop}
				got, err := autotune.Tune(ctx, n, o)
				stop()
				if err == nil {
					if got.Trials != 40 || got.Best != want.Best || got.Default != want.Default {
						t.Fatalf("%+v, want %+v", got, want)
					}
					break
				}
				if stops++; !errors.Is(err, context.Canceled) || got == nil || stops > 20 {
					t.Fatalf("stop %d: %+v, %v", stops, got, err)
				}
			}
			if stops < 3 || !bytes.Equal(read(t, whole), read(t, pieces)) {
				t.Errorf("after %d stops the records differ:\n%s\n%s", stops, read(t, whole), read(t, pieces))
			}
			again := &inProcess{}
			o.Runner = again
			if got, err := tune(t, n, o); err != nil || again.jobs != 0 || got.Measured != 0 || got.Best != want.Best {
				t.Errorf("%d jobs, %+v, %v", again.jobs, got, err)
			}
		})
	}
}

// TestLate: while a round is under way the next one is proposed, and what that is depends on no clock: however long jobs take, and however many are
// measured at once, the records are the same, and cores are accounted for.
func TestLate(t *testing.T) {
	n := network(t, layer{"a", 32}, layer{"b", 16})
	for _, name := range search.Names() {
		var want []byte
		for seed, slots := range []int{1, 2, 5} {
			file := filepath.Join(t.TempDir(), "records")
			run := &inProcess{slots: slots, late: rand.New(rand.NewPCG(uint64(seed), 0))}
			r, err := tune(t, n, autotune.Options{Runner: run, Records: file, Trials: 36, Seed: 3, Round: 6, Search: name})
			if err != nil || r.Trials != 36 {
				t.Fatalf("%+v, %v", r, err)
			}
			if b := r.Busy; b.Cores < 1 || b.Proposing <= 0 || b.Building <= 0 || b.Checking <= 0 || b.Measuring <= 0 || b.Elsewhere ||
				b.Proposing+b.Building+b.Checking+b.Measuring > time.Duration(b.Cores)*r.Took {
				t.Errorf("%+v in %v", b, r.Took)
			}
			if got := read(t, file); want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s, %d at once: the records differ:\n%s\n%s", name, slots, got, want)
			}
		}
	}
}

// TestOver: when the time is over, no candidate is begun any more, and those that were are in the records.
func TestOver(t *testing.T) {
	for limit := time.Second; ; limit *= 2 { // until it is enough for some on this machine
		file := filepath.Join(t.TempDir(), "records")
		run := &inProcess{slots: 1, late: rand.New(rand.NewPCG(1, 1))}
		r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: run, Records: file, Time: limit, Round: 400, Search: "random"})
		if err == nil && r.Trials == 0 {
			continue
		}
		if err != nil || r.Trials >= 400 || r.Measured != bytes.Count(read(t, file), []byte("\n")) {
			t.Errorf("%+v, %v", r, err)
		}
		return
	}
}

// disturbed is a runner that takes times, while something else runs whenever a kernel is there for the first time.
type disturbed struct {
	*inProcess
	slower float64

	mu    sync.Mutex
	known map[string]bool // kernels
}

func (*disturbed) Machine() records.Machine { return records.Machine{CPU: "made up"} }
func (*disturbed) Unit() records.Unit       { return records.Nanoseconds }

func (d *disturbed) Measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	r, err := d.inProcess.Measure(ctx, j)
	r.Machine, r.Measurement.Unit = d.Machine(), d.Unit()
	d.mu.Lock()
	defer d.mu.Unlock()
	if key := runner.Hash(j.Library); !d.known[key] {
		d.known[key] = true
		m := &r.Measurement
		m.Cost, m.Low, m.High, m.Samples = m.Cost*d.slower, m.Low*d.slower, m.High*d.slower, []float64{m.Cost * d.slower}
	}
	return r, err
}

// TestDisturbed: what runs beside the tuner when default schedules are timed makes no task look hopeless; other schedules are timed once before the end.
func TestDisturbed(t *testing.T) {
	results := map[float64]*autotune.Result{}
	for _, slower := range []float64{1, 10} {
		run, again := &disturbed{inProcess: &inProcess{}, slower: slower, known: map[string]bool{}}, 0
		r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: run, Records: filepath.Join(t.TempDir(), "records"), Trials: 16, Round: 4, Search: "random", Events: func(e autotune.Event) {
			if _, ok := e.(autotune.Again); ok {
				again++
			}
		}})
		if err != nil || r.Trials != 16 {
			t.Fatalf("%+v, %v", r, err)
		}
		if n := run.jobs - again; n <= 16 || n >= 32 {
			t.Errorf("16 schedules were measured %d times before the end", n)
		}
		results[slower] = r
	}
	if results[10].Default != results[1].Default {
		t.Errorf("default schedules take %g, not %g as without what runs beside them", results[10].Default, results[1].Default)
	}
}

// TestCold: what kernels cost with empty caches is recorded as that, and is not compared with what they cost else.
func TestCold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	n := network(t, layer{"a", 32})
	run := func(cold bool, trials int) *disturbed {
		t.Helper()
		run := &disturbed{inProcess: &inProcess{}, slower: 1, known: map[string]bool{}}
		o := autotune.Options{Runner: run, Records: file, Trials: trials, Round: 4, Search: "random", Settings: runner.Settings{Cold: cold}}
		if _, err := tune(t, n, o); err != nil {
			t.Fatal(err)
		}
		return run
	}
	run(true, 6)
	if run(false, 4).jobs == 0 || run(true, 6).jobs != 0 {
		t.Error("costs with caches of both kinds are taken for the same")
	}
	set, err := records.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[bool]map[string]bool{true: {}, false: {}}
	warm := 0
	for _, r := range set.Records {
		tried[r.Result.Cold][r.Candidate.Key()] = true
		if !r.Result.Cold {
			warm++
		}
	}
	if len(tried[true]) != 6 || len(tried[false]) != 4 {
		t.Errorf("%d candidates with empty caches, %d with others", len(tried[true]), len(tried[false]))
	}
	a, err := autotune.Agree(t.Context(), n, set, "made up")
	if err != nil {
		t.Fatal(err)
	}
	want := []autotune.Note{{Kind: autotune.OtherCaches, Count: warm}}
	if !reflect.DeepEqual(a.Notes, want) {
		t.Errorf("%+v", a.Notes)
	}
	o := autotune.Options{Runner: &inProcess{}, Trials: 2, Settings: runner.Settings{Cold: true}}
	if _, err := autotune.Tune(t.Context(), n, o); err == nil {
		t.Error("a simulated core has caches to empty")
	}
}

// growing is a runner elsewhere, such as a fleet, that has one slot until it has measured some, and more then.
type growing struct {
	*inProcess
	under atomic.Int32
	meet  sync.Once
	met   chan struct{}
}

func (*growing) Here() bool { return false }
func (g *growing) Slots() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return 1 + g.jobs/4
}

func (g *growing) Measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	defer g.under.Add(-1)
	if g.under.Add(1) > 1 {
		g.meet.Do(func() { close(g.met) })
	}
	if g.Slots() > 2 {
		select {
		case <-g.met:
		case <-time.After(time.Second):
		}
	}
	return g.inProcess.Measure(ctx, j)
}

// TestJoin: workers that join a fleet while it tunes get work.
func TestJoin(t *testing.T) {
	run := &growing{inProcess: &inProcess{}, met: make(chan struct{})}
	if r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: run, Trials: 16, Round: 4, Search: "random"}); err != nil || r.Trials != 16 {
		t.Fatalf("%+v, %v", r, err)
	}
	select {
	case <-run.met:
	default:
		t.Errorf("%d slots, and no two candidates were measured at once", run.Slots())
	}
}

// TestIntegers: kernels that read and write floats as integers (layout.Multiples) are measured as others are.
func TestIntegers(t *testing.T) {
	target, err := targets.Lookup(targets.HostName)
	need.OK(t, err)
	const layer = `"op": "bitserial_conv2d", "attrs": {"filters": 32, "kernel": [3, 3], "padding": "same", "weight_scale": "none"}`
	const quantizer = `"op": "quantize", "attrs": {"bits": 1, "encoding": "bipolar"}`
	n := &autotune.Network{Target: target, Graph: parsed(t, `{"format": "ripc.model/1", "name": "net", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 5, 5, 32]}],
"weights": {"init": "random", "seed": 4}, "outputs": ["out"], "nodes": [
{"name": "q0", "inputs": ["x"], `+quantizer+`}, {"name": "a", "inputs": ["q0"], `+layer+`},
{"name": "q1", "inputs": ["a"], `+quantizer+`}, {"name": "b", "inputs": ["q1"], `+layer+`},
{"name": "sum", "op": "add", "inputs": ["a", "b"]}, {"name": "out", "op": "relu", "inputs": ["sum"]}]}`)}
	integers := 0
	r, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Trials: 16, Round: 4, Search: "random", Events: func(e autotune.Event) {
		if b, ok := e.(autotune.Began); ok {
			for _, task := range b.Tasks {
				for _, p := range task.Func.Params {
					if p.Type == ir.I16 && p.Name != "wt" {
						integers++
					}
				}
			}
		}
	}})
	if err != nil || r.Trials != 16 || integers == 0 {
		t.Fatalf("%+v with %d tensors of integers, %v", r, integers, err)
	}
	for _, task := range r.Tasks {
		if task.Trials > 0 && task.Default == 0 {
			t.Errorf("%+v was not measured", task)
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestShared: a network that shares a kernel with one that was tuned measures only what is new.
func TestShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	first := &inProcess{}
	if _, err := tune(t, network(t, layer{"a", 32}, layer{"b", 16}), autotune.Options{Runner: first, Records: file, Trials: 24, Layers: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	second := &inProcess{}
	var known, fresh int
	o := autotune.Options{Runner: second, Records: file, Trials: 20, Layers: []string{"other"}, Events: func(e autotune.Event) {
		if e, ok := e.(autotune.Tried); ok && e.Known {
			known++
		} else if ok {
			fresh++
		}
	}}
	if _, err := tune(t, network(t, layer{"other", 32}, layer{"last", 8}), o); err != nil || second.jobs != 0 || known != 20 || fresh != 0 {
		t.Errorf("%d jobs, %d known, %d new, %v", second.jobs, known, fresh, err)
	}
	o.Layers = []string{"last"}
	if _, err := tune(t, network(t, layer{"other", 32}, layer{"last", 8}), o); err != nil || second.jobs != 20 || fresh != 20 {
		t.Errorf("a new layer: %d jobs, %v", second.jobs, err)
	}
}

// TestNewer: records of a newer version are not gone by, as compile does not, and those of another CPU are not either; both are said.
func TestNewer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	n := network(t, layer{"a", 32})
	if _, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Records: file, Trials: 6}); err != nil {
		t.Fatal(err)
	}
	set, err := records.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	set.Records[1].Machine = records.Machine{CPU: "another"}
	set.Records[2].Machine = records.Machine{CPU: "a third", Simulated: true}
	for i := 3; i < 6; i++ {
		set.Records[i].Versions.Ripc = "9.9.9"
	}
	if err := records.WriteFile(file, set); err != nil {
		t.Fatal(err)
	}
	var notes []autotune.Note
	again := &inProcess{}
	o := autotune.Options{Runner: again, Records: file, Trials: 6, Events: func(e autotune.Event) {
		if e, ok := e.(autotune.Began); ok {
			notes = e.Notes
		}
	}}
	if _, err := tune(t, n, o); err != nil || again.jobs != 5 {
		t.Errorf("%d jobs, %v", again.jobs, err)
	}
	want := []autotune.Note{{Kind: autotune.Newer, Count: 3}, {Kind: autotune.OtherCPU, Count: 1, CPU: "another"}, {Kind: autotune.OtherCPU, Count: 1, CPU: "a third", Simulated: true}}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("%+v", notes)
	}
}

// TestOthers: of records of several machines a network is compiled with those of one, that of most candidates, however often each was measured, and
// the others are said to be left out.
func TestOthers(t *testing.T) {
	n := network(t, layer{"a", 32})
	var err error
	if n.Target, err = targets.Lookup("rpi3"); err != nil {
		t.Fatal(err)
	}
	set := &records.Set{}
	for cpu, count := range map[string]int{"another board": 6, "board": 4, "core": 6} {
		for i := range count {
			if cpu == "another board" {
				i %= 3
			}
			set.Records = append(set.Records, records.Record{Candidate: records.Candidate{Trace: []string{fmt.Sprintf("unroll x%d", i)}}, Target: "rpi3", Machine: records.Machine{CPU: cpu, Simulated: cpu == "core"}, Result: records.Measurement{Cost: 1}})
		}
	}
	a, err := autotune.Agree(t.Context(), n, set, "this one")
	if err != nil {
		t.Fatal(err)
	}
	want := []autotune.Note{{Kind: autotune.OtherCPU, Count: 6, CPU: "another board"}, {Kind: autotune.OtherCPU, Count: 6, CPU: "core", Simulated: true}}
	if got := slices.DeleteFunc(a.Notes, func(n autotune.Note) bool { return n.Kind == autotune.Without }); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestRecall: what others have found of a kernel is measured behind its default schedule, whatever it is measured on; a run that is stopped
// and goes on does so, too, and schedules that cannot be any more are left out.
func TestRecall(t *testing.T) {
	dir := t.TempDir()
	n := network(t, layer{"a", 32}, layer{"b", 24})
	found := filepath.Join(dir, "found")
	if _, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Records: found, Trials: 30, Seed: 1, Search: "random"}); err != nil {
		t.Fatal(err)
	}
	known, err := records.Load(found)
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]string{} // traces by workload
	for i := range known.Records {
		known.Records[i].Machine.CPU = "another"
		known.Records[i].Result.Samples = nil
	}
	for _, task := range known.Tasks() {
		best[task.Workload] = strings.Join(known.Ranked(task, known.Classes(task)[0])[0].Candidate.Trace, "\n")
	}
	stale := known.Records[0]
	stale.Candidate.Trace, stale.Result.Cost, stale.Result.Low = []string{"unroll nothing"}, 1, 1
	whole, pieces := filepath.Join(dir, "whole"), filepath.Join(dir, "pieces")
	o := autotune.Options{Runner: &inProcess{}, Records: whole, Trials: 24, Seed: 2, Round: 4, Search: "random", Known: known}
	if _, err := tune(t, n, o); err != nil {
		t.Fatal(err)
	}
	got, err := records.Load(whole)
	if err != nil {
		t.Fatal(err)
	}
	recalled := 0
	for _, r := range got.Records {
		if r.Origin.Tuner != "recalled" {
			continue
		}
		recalled++
		if r.Origin.Trial != 1 || strings.Join(r.Candidate.Trace, "\n") != best[r.Workload.Key] || r.Machine.CPU != "made up" {
			t.Errorf("%+v", r)
		}
	}
	if recalled < 2 {
		t.Errorf("%d were recalled", recalled)
	}
	ctx, stop := context.WithCancel(t.Context())
	o.Records, o.Runner = pieces, &inProcess{ending: 9, end: stop}
	if _, err := autotune.Tune(ctx, n, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Runner = &inProcess{}
	if _, err := tune(t, n, o); err != nil || !bytes.Equal(read(t, whole), read(t, pieces)) {
		t.Errorf("%v, or the records differ", err)
	}
	o.Records, o.Known = "", &records.Set{Records: []records.Record{stale}}
	if r, err := tune(t, n, o); err != nil || r.Trials != 24 {
		t.Errorf("a stale schedule: %+v, %v", r, err)
	}
}

// TestWrong: what does not compute what the definition does is recorded as wrong, and is never the best.
func TestWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: &inProcess{wrong: 3}, Records: file, Trials: 30})
	if err != nil {
		t.Fatal(err)
	}
	set, err := records.Load(file)
	if err != nil || len(set.Damaged) > 0 || len(set.Records) != 30 {
		t.Fatalf("%+v, %v", set, err)
	}
	best, failures := map[string]float64{}, 0
	for _, rec := range set.Records {
		if f := rec.Result.Failure; f != nil {
			if failures++; f.Kind != records.Wrong {
				t.Errorf("%+v", f)
			}
		} else if b := best[rec.Workload.Key]; b == 0 || rec.Result.Cost < b {
			best[rec.Workload.Key] = rec.Result.Cost
		}
		if rec.Versions.Ripc != compile.Version || rec.Origin.Time != "" || rec.Workload.Op == "" || rec.Target != "host" {
			t.Errorf("%+v", rec)
		}
	}
	counted := 0
	for _, task := range r.Tasks {
		counted += task.Failures
		if task.Best != best[task.Task.Workload.Key] {
			t.Errorf("%+v", task)
		}
	}
	if failures == 0 || failures != counted {
		t.Errorf("%d failures, %d counted", failures, counted)
	}
}

// TestPart: a layer that writes its part of a concatenation leaves the others as they were, and that is right.
func TestPart(t *testing.T) {
	n := network(t, layer{"a", 32})
	n.Graph = parsed(t, `{"format": "ripc.model/1", "name": "net", "inputs": [{"name": "x", "dtype": "u8", "encoding": "bipolar", "bits": 1, "shape": [1, 5, 5, 32], "layout": "NHWC"}],
"weights": {"init": "random", "seed": 4}, "outputs": ["c"], "nodes": [
{"name": "a", "op": "bitserial_conv2d", "inputs": ["x"], "attrs": {"filters": 32, "kernel": [1, 1]}},
{"name": "qa", "op": "quantize", "inputs": ["a"], "attrs": {"bits": 1, "encoding": "bipolar"}},
{"name": "b", "op": "bitserial_conv2d", "inputs": ["x"], "attrs": {"filters": 32, "kernel": [1, 1]}},
{"name": "qb", "op": "quantize", "inputs": ["b"], "attrs": {"bits": 1, "encoding": "bipolar"}},
{"name": "both", "op": "concat", "inputs": ["qa", "qb"]},
{"name": "c", "op": "bitserial_conv2d", "inputs": ["both"], "attrs": {"filters": 8, "kernel": [1, 1]}}]}`)
	r, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Trials: 6, Layers: []string{"a", "b"}})
	if err != nil || r.Trials != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, task := range r.Tasks {
		if task.Failures > 0 {
			t.Errorf("%v: %d of %d failed", task.Task.Layers, task.Failures, task.Trials)
		}
	}
}

// TestLost: when nothing can be measured any more, the run ends with the runner's error and keeps what it has.
func TestLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	var lost *runner.LostError
	r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: &inProcess{lost: 5}, Records: file, Trials: 30})
	if set, _ := records.Load(file); !errors.As(err, &lost) || r.Trials > 5 || len(set.Records) != r.Trials {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: &inProcess{}, Time: 1}); err != nil || r.Trials != 0 {
		t.Errorf("without time: %+v, %v", r, err)
	}
	var none *search.NameError
	if _, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: &inProcess{}, Search: "none"}); !errors.As(err, &none) {
		t.Errorf("no search: %v", err)
	}
	if _, err := tune(t, network(t, layer{"a", 32}), autotune.Options{Runner: &inProcess{}, Layers: []string{"aa"}}); err == nil || !strings.Contains(err.Error(), `no layer is called "aa"`) {
		t.Errorf("no layer: %v", err)
	}
}

// agreed compiles n with what records say, and gives that, what it would cost by them, and the network's outputs.
func agreed(t *testing.T, n *autotune.Network, set *records.Set) (*autotune.Agreement, *compile.Compiled, [][]byte) {
	t.Helper()
	var a *autotune.Agreement
	load := func(context.Context) (*graph.Graph, error) { return n.Graph, nil }
	o := compile.Options{Target: n.Target.Name, Tuned: func(ctx context.Context, g *graph.Graph, target targets.Target) (compile.Tuning, error) {
		var err error
		a, err = autotune.Agree(ctx, &autotune.Network{Graph: g, Target: target}, set, "this one")
		if err != nil {
			return compile.Tuning{}, err
		}
		return a.Tuning, nil
	}}
	c, err := compile.Network(t.Context(), load, o)
	if err != nil {
		t.Fatal(err)
	}
	x := bytes.Repeat([]byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf, 0, 0, 0x80, 0x3f}, 5*5*32)[:4*5*5*32]
	out, err := interp.RunProgram(t.Context(), c.Scheduled, [][]byte{x}, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a, c, out
}

// TestMergedTitles: on a device, which merges stages, a layer is called as users see it.
func TestMergedTitles(t *testing.T) {
	n := network(t, layer{"a", 32})
	var err error
	if n.Target, err = targets.Lookup("opencl-cpu"); err != nil {
		t.Fatal(err)
	}
	a, err := autotune.Agree(t.Context(), n, &records.Set{}, "this one")
	if err != nil || len(a.Notes) != 1 || !slices.Equal(a.Notes[0].Layers, []string{"q0+a"}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestAgreeTogether: where what a layer is depends on its neighbours, since levels lie as bytes if all that read them can, only what was
// measured is put together, and it costs no more than the network without records.
func TestAgreeTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	n := network(t, layer{"a", 32})
	n.Graph = parsed(t, `{"format": "ripc.model/1", "name": "net", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 5, 5, 32], "layout": "NHWC"}],
"weights": {"init": "random", "seed": 4}, "outputs": ["c"], "nodes": [
{"name": "q0", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 8, "encoding": "unipolar"}},
{"name": "a", "op": "bitserial_conv2d", "inputs": ["q0"], "attrs": {"filters": 32, "kernel": [1, 1]}},
{"name": "qa", "op": "quantize", "inputs": ["a"], "attrs": {"bits": 8, "encoding": "unipolar"}},
{"name": "b", "op": "bitserial_conv2d", "inputs": ["qa"], "attrs": {"filters": 32, "kernel": [3, 3]}},
{"name": "qb", "op": "quantize", "inputs": ["b"], "attrs": {"bits": 8, "encoding": "unipolar"}},
{"name": "c", "op": "bitserial_conv2d", "inputs": ["qb"], "attrs": {"filters": 8, "kernel": [1, 1]}}]}`)
	if _, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Records: file, Trials: 60, Round: 4}); err != nil {
		t.Fatal(err)
	}
	set, err := records.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	costs := map[string]float64{} // the least by workload
	for _, rec := range set.Records {
		if c := costs[rec.Workload.Key]; rec.Result.Failure == nil && (c == 0 || rec.Result.Cost < c) {
			costs[rec.Workload.Key] = rec.Result.Cost
		}
	}
	total := func(p *ir.Program) float64 {
		sum := 0.0
		for _, s := range p.Stages {
			c := costs[p.FuncByName(s.Func).Key()]
			if sum += c; c == 0 {
				t.Errorf("stage %s was not measured", s.Name)
			}
		}
		return sum
	}
	_, usual, want := agreed(t, n, &records.Set{})
	a, c, got := agreed(t, n, set)
	if len(a.Notes) != 0 || !slices.EqualFunc(got, want, bytes.Equal) || total(c.Program) > total(usual.Program) {
		t.Errorf("%+v: costs %v, without records %v", a, total(c.Program), total(usual.Program))
	}
	for seed := range uint64(8) { // other costs
		r := rand.New(rand.NewPCG(seed, 0))
		costs = map[string]float64{}
		for i := range set.Records {
			m := &set.Records[i].Result
			m.Cost = float64(1000 + r.IntN(9000))
			m.Low, m.High, m.Samples = m.Cost, m.Cost, nil
			if c := costs[set.Records[i].Workload.Key]; c == 0 || m.Cost < c {
				costs[set.Records[i].Workload.Key] = m.Cost
			}
		}
		_, c, got := agreed(t, n, set)
		if cost := total(c.Program); cost > total(usual.Program) || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("seed %d: costs %v, without records %v", seed, cost, total(usual.Program))
		}
	}
}

// TestAgree: each layer has the algorithm and the schedule that cost least by the records, the network computes the same, and what the
// records cannot say is noted.
func TestAgree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	n := network(t, layer{"a", 32}, layer{"b", 16})
	r, err := tune(t, n, autotune.Options{Runner: &inProcess{}, Records: file, Trials: 60, Round: 4})
	if err != nil {
		t.Fatal(err)
	}
	set, err := records.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	plain, usual, want := agreed(t, n, &records.Set{})
	if len(plain.Notes) != 1 || plain.Notes[0].Kind != autotune.Without || len(plain.Notes[0].Layers) != len(usual.Program.Stages) || len(plain.Schedules) != 0 {
		t.Errorf("without records: %+v", plain)
	}
	a, c, got := agreed(t, n, set)
	if len(a.Notes) != 0 || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("with records: %+v, outputs %v, want %v", a, got, want)
	}
	costs := map[string]float64{} // by algorithm and trace
	for _, rec := range set.Records {
		costs[rec.Workload.Op+rec.Candidate.Key()] = rec.Result.Cost
	}
	total := 0.0
	for _, s := range c.Program.Stages {
		k := records.Candidate{Algorithm: s.Layer.Algorithm.Name}
		for _, st := range c.Traces[s.Func] {
			k.Trace = append(k.Trace, st.String())
		}
		cost := costs[s.Op+k.Key()]
		if total += cost; cost == 0 {
			t.Errorf("stage %s has a schedule that was not measured", s.Name)
		}
	}
	if total != r.Best {
		t.Errorf("the stages cost %v together, want %v", total, r.Best)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if a, err := autotune.Agree(ended, n, set, "this one"); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is over: %+v, %v", a, err)
	}
	again, _, _ := agreed(t, n, set)
	if !maps.EqualFunc(again.Traces(), a.Traces(), slices.Equal) {
		t.Errorf("the same records give %v and %v", a.Traces(), again.Traces())
	}

	// The best schedule of each task is stale, and the file has lines of others.
	stale := &records.Set{Foreign: []records.Foreign{{Line: 1, Format: "ripc.record/9"}}, Damaged: []records.Damaged{{Line: 2}}}
	for _, rec := range set.Records {
		stale.Records = append(stale.Records, rec)
		rec.Result.Cost, rec.Result.Low = 1, 1
		rec.Candidate.Trace = []string{"unroll nowhere"}
		stale.Records = append(stale.Records, rec)
		rec.Versions.Ripc = "1.10.2"
		stale.Records = append(stale.Records, rec)
		rec.Versions.Ripc = compile.Version
		rec.Machine = records.Machine{CPU: "another"}
		stale.Records = append(stale.Records, rec)
	}
	b, _, got := agreed(t, n, stale)
	kinds := map[autotune.NoteKind]int{}
	for _, note := range b.Notes {
		kinds[note.Kind]++
		if note.Kind == autotune.Stale && (note.Err == nil || len(note.Layers) == 0) || note.Kind == autotune.OtherCPU && (note.CPU != "another" || note.Count != len(set.Records)) {
			t.Errorf("%+v", note)
		}
	}
	if kinds[autotune.Stale] == 0 || kinds[autotune.Foreign] != 1 || kinds[autotune.Damaged] != 1 || kinds[autotune.OtherCPU] != 1 || kinds[autotune.Newer] != 1 || kinds[autotune.Without] != 0 {
		t.Errorf("%+v", b.Notes)
	}
	if !maps.EqualFunc(b.Traces(), a.Traces(), slices.Equal) || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("with stale records %v, without %v", b.Traces(), a.Traces())
	}
}
