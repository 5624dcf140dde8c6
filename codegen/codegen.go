// Package codegen turns a scheduled ir.Program into the files that are shipped. Back ends, packages
// below this one that implement Backend, write the files. This package holds everything that all
// back ends share: names of symbols, places of constants, the description and the C header.
//
//	in := codegen.Input{Program: p, Target: t, Emit: kinds}
//	files, err := codegen.Build(ctx, in, llvm.Backend{})
//	os.WriteFile("net.so", files[codegen.SO], 0o644)
//
// An artifact holds one kernel for each Func, a driver that runs the stages, one block with all
// constants, and the description. Package internal/abi defines the driver's interface, and
// runtime/describe the description. The same input gives the same bytes.
package codegen

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/runtime/describe"
	"ripc/targets"
)

// Backend writes code of one kind.
type Backend interface {
	// Name is the back end's name in --backend.
	Name() string
	// Kinds lists the files that the back end can make for some target. Build makes headers,
	// Rust and Ripir by itself.
	Kinds() []Kind
	// Accepts fails with *TargetError if the back end cannot make k, one of Kinds, for t.
	Accepts(t targets.Target, k Kind) error
	// Kernel makes the code of one Func, which is sound, as a function called symbol. It fails with
	// *ir.Error if the Func breaks a rule of code generation. It compiles nothing. floats describes
	// f's Program.
	Kernel(f *ir.Func, symbol string, t targets.Target, floats *Floats) (Kernel, error)
	// Limit fails with *SizeError if the code of f is larger than a kernel may be, and otherwise as
	// Kernel does. It is much faster than Kernel.
	Limit(f *ir.Func, t targets.Target) error
	// Prepare finds the tools for t, so that the returned back end need not, and their version. It
	// fails if they are missing.
	Prepare(ctx context.Context, t targets.Target) (ready Backend, version string, err error)
	// Files makes the given files, of Kinds.
	Files(ctx context.Context, m *Image, kinds []Kind) (map[Kind][]byte, error)
}

// Kernel is the code of one Func: a function of a pointer per parameter of the Func, then
//
//	(scratch, uint32 tid, uint32 nthreads)
//
// All pointers are aligned to abi.Align. No two overlap, except an output over an input (ir.Param).
// A call runs unit tid of the nthreads units of the parallel loops; any thread may make it. Without
// a parallel loop, unit 0 is the whole kernel, and the others do nothing.
type Kernel struct {
	Symbol  string
	Text    []byte // in the back end's language
	Scratch int64  // bytes that scratch must point to, for each thread its own; a multiple of abi.Align
	Stack   int64  // bytes of buffers on the stack
	// ByLane names vectorize loops that run lane by lane in part: for an if with diverging lanes.
	ByLane []string
	// Launches are those of a device, where Text has a kernel for each.
	Launches []describe.Launch
}

// SizeError reports that a Func needs more than size.Max instructions. A schedule can only estimate
// that.
type SizeError struct{ Err *ir.Error }

func (e *SizeError) Error() string { return e.Err.Error() }

// Unwrap returns the error in terms of the IR.
func (e *SizeError) Unwrap() error { return e.Err }

// TargetError says why a back end cannot make a kind of file for a target.
type TargetError struct {
	Backend, Target string
	Reason          string
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("back end %s cannot make it for target %s: %s", e.Backend, e.Target, e.Reason)
}

// BadInput reports that the input is at fault.
func (*TargetError) BadInput() bool { return true }

// Input holds the arguments of Build.
type Input struct {
	Program *ir.Program         // scheduled
	Traces  map[string][]string // by Func: the lines of its schedule, for the description
	Target  targets.Target
	Version string // of the compiler
	Emit    []Kind
	// NoDescribe leaves the description out of the files. Only programs that know the network can
	// load these: runtime.Load, run, bench and inspect cannot.
	NoDescribe bool
	// ForWebGPU is the bundle of the same network for a page, or nil; NoWebGPU says why.
	ForWebGPU []byte
	NoWebGPU  string
	// Progress, if not nil, is called as kernels are compiled.
	Progress func(done, total int)
}

// Build makes the files of in.Emit, each by the first back end that can. It fails with *ir.Error if
// the Program cannot be shipped or a Func breaks a rule of code generation. It fails with
// *KindError or *TargetError if no back end makes a file. Other errors are those of the back end (a
// tool that is missing or fails, an undefined symbol), or ctx's.
func Build(ctx context.Context, in Input, backends ...Backend) (map[Kind][]byte, error) {
	if err := check(in.Program); err != nil {
		return nil, err
	}
	jobs, err := assign(in, backends)
	if err != nil {
		return nil, err
	}
	// One header fits all: a workspace is as large as the back end with the most scratch wants it.
	var scratch int64
	for i := range jobs {
		if jobs[i].image, err = newImage(in, jobs[i].backend); err != nil {
			return nil, err
		}
		scratch = max(scratch, jobs[i].image.Description.ScratchBytes)
	}
	files := map[Kind][]byte{}
	for _, j := range jobs {
		j.image.Description.ScratchBytes = scratch
		if j.image.ABI = jobs[0].image.ABI; j.image.ABI == "" {
			j.image.ABI = j.image.hash()
		}
		if err := j.run(ctx, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// job is a back end and the files that it is to make.
type job struct {
	backend Backend
	kinds   []Kind // may be empty, for Header
	image   *Image
}

// assign gives every kind to a back end.
func assign(in Input, backends []Backend) ([]job, error) {
	var jobs []job
	for _, k := range in.Emit {
		if k.OfAll() {
			if !k.suits(in.Target) {
				return nil, &TargetError{Backend: "any", Target: in.Target.Name,
					Reason: fmt.Sprintf("the functions of a .%s are those of a CPU, or, in a .h, of OpenCL", k)}
			}
			continue
		}
		b, err := backendFor(k, in.Target, backends)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(jobs, func(j job) bool { return j.backend.Name() == b.Name() })
		if at < 0 {
			at, jobs = len(jobs), append(jobs, job{backend: b})
		}
		if !slices.Contains(jobs[at].kinds, k) {
			jobs[at].kinds = append(jobs[at].kinds, k)
		}
	}
	if len(jobs) == 0 { // the description still needs to know the scratch memory of some code
		for _, b := range backends {
			if len(jobs) == 0 && len(kindsFor(b, in.Target)) > 0 {
				jobs = append(jobs, job{backend: b})
			}
		}
	}
	if len(jobs) == 0 {
		return nil, &TargetError{Backend: "any", Target: in.Target.Name, Reason: "none was given that knows it"}
	}
	for _, k := range in.Emit {
		if k.OfAll() && !slices.Contains(jobs[0].kinds, k) {
			jobs[0].kinds = append(jobs[0].kinds, k)
		}
	}
	return jobs, nil
}

// kindsFor lists the kinds that b can make for t.
func kindsFor(b Backend, t targets.Target) []Kind {
	return slices.DeleteFunc(b.Kinds(), func(k Kind) bool { return b.Accepts(t, k) != nil })
}

// backendFor finds the first back end that makes files of kind k for t.
func backendFor(k Kind, t targets.Target, backends []Backend) (Backend, error) {
	var refused error
	for _, b := range backends {
		if !slices.Contains(b.Kinds(), k) {
			continue
		}
		err := b.Accepts(t, k)
		if err == nil {
			return b, nil
		}
		if refused == nil {
			refused = err
		}
	}
	var possible []string
	for _, kind := range Kinds() {
		if kind.OfAll() && kind.suits(t) ||
			slices.ContainsFunc(backends, func(b Backend) bool { return slices.Contains(kindsFor(b, t), kind) }) {
			possible = append(possible, string(kind))
		}
	}
	if refused == nil {
		return nil, &KindError{Kind: string(k), Known: possible}
	}
	return nil, fmt.Errorf("cannot emit %s: %w; possible are %s", k, refused, strings.Join(possible, ", "))
}

// run makes j's files.
func (j job) run(ctx context.Context, files map[Kind][]byte) error {
	var own []Kind
	for _, k := range j.kinds {
		switch k {
		case Header:
			files[k] = j.image.HeaderText()
		case Plus:
			files[k] = j.image.wrapper(plusText, j.image.ABI)
		case Rust:
			files[k] = j.image.wrapper(rustText, j.image.ABI)
		case Ripir:
			files[k] = []byte(j.image.Program.String())
		default:
			own = append(own, k)
		}
	}
	if len(own) == 0 {
		return nil
	}
	made, err := j.backend.Files(ctx, j.image, own)
	if err != nil {
		return err
	}
	maps.Copy(files, made)
	return nil
}
