package peers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ripc"
	"ripc/engine/estimate"
	"ripc/engine/simulate"
	"ripc/internal/stop"
	"ripc/internal/tools"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets"
)

// boardEnv is the environment of the engines that also run on boards: qemu-user runs them in a
// Python for 64-bit Arm.
const boardEnv = "onnx"

// arm64 is the folder of that Python, below the one of the environments.
const arm64 = "arm64"

// core has the numbers by which Linux names a core. XNNPACK chooses kernels by them.
type core struct{ implementer, part int }

// cores are the cores of boards that engines run on, by target.
func cores() map[string]core {
	return map[string]core{"rpi3": {0x41, 0xd03}, "rpi4": {0x41, 0xd08}, "rpi5": {0x41, 0xd0b}, "pixel1": {0x51, 0x205}}
}

// boardCases are the subjects on each board, by the engines of boardEnv and by ripc on their files.
func (b *bench) boardCases() (all []task.Case, err error) {
	for _, name := range b.boards {
		t, err := targets.Lookup(name)
		if err != nil {
			return nil, err
		}
		if _, ok := cores()[name]; !ok {
			return nil, fmt.Errorf("--board %s: the numbers of its core are not known; there are %s", name,
				strings.Join(slices.Sorted(maps.Keys(cores())), ", "))
		}
		for _, s := range subjects() {
			runs := func(file string) bool {
				reads := func(e Entry) bool { return e.Env == boardEnv && e.Model == file }
				return slices.ContainsFunc(s.Entries, reads)
			}
			s.Entries = slices.DeleteFunc(slices.Clone(s.Entries), func(e Entry) bool { return !runs(e.Model) })
			if len(s.Entries) == 0 {
				continue
			}
			all = append(all, task.Case{Key: figures.Key{Subject: s.Name, Target: name, Threads: 1}, Once: true,
				Measure: func(ctx context.Context, m figures.Mark) ([]figures.Figure, error) {
					return b.estimate(ctx, s, t, m.Estimated(t.CPU))
				}})
		}
	}
	return all, nil
}

// estimate returns the estimated cycles of one run of each entry on a board. The first figure says
// that the subject was measured.
func (b *bench) estimate(ctx context.Context, s Subject, t targets.Target, m figures.Mark) ([]figures.Figure, error) {
	all := []figures.Figure{{Mark: m}}
	for _, e := range s.Entries {
		f := figures.Figure{Key: figures.Key{Subject: s.Name, Variant: e.Engine, Target: t.Name, Threads: 1}, Mark: m}
		_, err := os.Stat(e.file(b.models()))
		switch {
		case err != nil:
			err = &unfitError{"no model " + e.Model}
		case e.Env == "":
			f.Values, err = estimateOwn(ctx, e.file(b.models()), t)
		default:
			f.Values, err = b.estimateGuest(ctx, s, e, t)
		}
		if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
			f.Why, err = oneLine(unfit.why), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Engine, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// ofCycles is the name of the value with the cycles of an estimate.
const ofCycles = "estimated_cycles"

// values returns the values of an estimate.
func values(cycles float64, instructions, unknown uint64) map[string]float64 {
	return map[string]float64{ofCycles: cycles, "instructions": float64(instructions),
		"unknown_instructions": float64(unknown)}
}

// estimateOwn estimates a run of ripc's code of a model.
func estimateOwn(ctx context.Context, model string, t targets.Target) (map[string]float64, error) {
	r, err := ripc.Bench(ctx, ripc.BenchRequest{Path: model, Options: ripc.Options{Target: t.Name}, Threads: 1})
	if err != nil {
		return nil, err
	}
	if r.EstimatedCycles == nil || r.Instructions == nil {
		return nil, fmt.Errorf("no estimate: %s%s", r.Reason, r.NoEstimate)
	}
	return values(*r.EstimatedCycles, *r.Instructions, r.Estimate.Unknown), nil
}

// estimateGuest estimates a run of another engine: qemu-user counts all that its process executes
// from the call of the engine to its return.
func (b *bench) estimateGuest(ctx context.Context, s Subject, e Entry, t targets.Target) (_ map[string]float64,
	err error) {
	defer stop.Catch(&err)
	est := stop.Must(estimate.For(t.Name))
	dir := stop.Must(os.MkdirTemp("", "ripc-guest-"))
	defer os.RemoveAll(dir)
	command := stop.Must(b.guestCommand(ctx, dir, t))
	file, counts := e.file(b.models()), filepath.Join(dir, "counts")
	w := stop.Must(start(ctx, e, append(command, e.Worker, file, "1"), 1, simulate.CountVariable+"="+counts))
	if why := w.check(s, file); why != "" {
		return nil, errors.Join(&unfitError{why}, w.stop())
	}
	code, died := w.count()
	stop.Check(errors.Join(died, w.stop()))
	profiles := stop.Must(simulate.ReadProfiles(counts, 1, 0, math.MaxUint64))
	cycles := stop.Must(est.Jobs(ctx, code, profiles))
	return values(cycles[0].Cycles, profiles[0].Instructions(), cycles[0].Unknown), nil
}

// guestCommand returns the command of a worker on a board, without its arguments. It makes in dir
// the counter, and a root folder with the files of Linux that describe the board's core.
func (b *bench) guestCommand(ctx context.Context, dir string, t targets.Target) (_ []string, err error) {
	defer stop.Catch(&err)
	qemu := stop.Must(tools.Find("to run engines for "+t.Arch, simulate.InstallQemu, "qemu-"+t.Arch))
	counter := stop.Must(simulate.Counter(ctx, qemu))
	base := stop.Must(filepath.Abs(b.dir))
	arm, root := filepath.Join(base, arm64), filepath.Join(dir, "root")
	c := cores()[t.Name]
	const cpus = "sys/devices/system/cpu"
	for name, text := range map[string]string{
		"count.so":                   string(counter),
		"root/" + cpus + "/possible": "0\n",
		"root/" + cpus + "/present":  "0\n",
		"root/proc/cpuinfo": fmt.Sprintf("processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: %#x\n"+
			"CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: %#x\nCPU revision\t: 0\n", c.implementer, c.part),
	} {
		path := filepath.Join(dir, name)
		stop.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		stop.Check(os.WriteFile(path, []byte(text), 0o700))
	}
	for _, name := range []string{"lib", "usr"} {
		stop.Check(os.Symlink(filepath.Join(arm, name), filepath.Join(root, name)))
	}
	return []string{qemu, "-cpu", t.QemuCPU, "-plugin", filepath.Join(dir, "count.so"), "-L", root,
		"-E", "PYTHONPATH=" + filepath.Join(arm, "wheels"), filepath.Join(arm, "usr/bin/python3"),
		filepath.Join(scripts, "worker.py")}, nil
}

// count lets a worker under qemu run its model once, counted. It returns the process's code.
func (w *worker) count() (code func(at, n uint64) []byte, err error) {
	var r report
	if err := w.ask(order{Count: true}, &r); err != nil {
		return nil, err
	}
	return codeOf(r.Maps)
}

// codeOf returns the function that returns bytes of a process's code. maps is Linux's list of its
// memory: lines such as "7f00-7f80 r-xp 0100 08:01 12 /usr/lib/libm.so".
func codeOf(maps string) (func(at, n uint64) []byte, error) {
	type part struct {
		first uint64
		bytes []byte
	}
	var parts []part
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		if len(f) != 6 || !strings.Contains(f[1], "x") || !filepath.IsAbs(f[5]) {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		var v [3]uint64
		for i, text := range []string{from, to, f[2]} {
			var err error
			if v[i], err = strconv.ParseUint(text, 16, 64); err != nil {
				return nil, fmt.Errorf("memory %q: %w", strings.TrimSpace(line), err)
			}
		}
		data, err := os.ReadFile(f[5])
		if err != nil {
			return nil, err
		}
		data = data[min(v[2], uint64(len(data))):]
		parts = append(parts, part{v[0], data[:min(v[1]-v[0], uint64(len(data)))]})
	}
	return func(at, n uint64) []byte {
		for _, p := range parts {
			if at >= p.first && at-p.first+n <= uint64(len(p.bytes)) {
				return p.bytes[at-p.first:][:n]
			}
		}
		return nil
	}, nil
}
