package artifact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/toolchain"
	"ripc/runtime/describe"
)

// compile compiles all modules, in order.
func (b *build) compile(ctx context.Context, kind toolchain.Kind) ([][]byte, error) {
	if b.in.Tools == nil {
		return nil, errors.New("artifact: no LLVM tools given; toolchain.Find finds them")
	}
	var jobs []toolchain.Job
	for _, m := range b.modules {
		jobs = append(jobs, toolchain.Job{Name: m.name, LL: m.ll, Target: b.in.Target, Kind: kind})
	}
	// To tell how far it is, CompileAll gets a few jobs at a time.
	report, step := b.in.Progress, len(jobs)
	if report != nil {
		step = 4 * runtime.GOMAXPROCS(0)
		report(0, len(jobs))
	}
	var out [][]byte
	for len(out) < len(jobs) {
		some, err := b.in.Tools.CompileAll(ctx, b.in.Cache, jobs[len(out):min(len(out)+step, len(jobs))])
		if err != nil {
			return nil, fmt.Errorf("compiling for %s: %w", b.in.Target.Name, err)
		}
		out = append(out, some...)
		if report != nil {
			report(len(out), len(jobs))
		}
	}
	return out, nil
}

// parts returns everything to be linked: modules, weights, description.
func (b *build) parts(ctx context.Context) ([]toolchain.Object, error) {
	if b.objects == nil {
		var err error
		if b.objects, err = b.compile(ctx, toolchain.Obj); err != nil {
			return nil, err
		}
	}
	var all []toolchain.Object
	for i, m := range b.modules {
		all = append(all, toolchain.Object{Name: m.name, Data: b.objects[i]})
	}
	if len(b.weights) > 0 {
		obj, err := b.in.Tools.Incbin(ctx, b.in.Target, []toolchain.Blob{{Symbol: weightsSymbol, Data: b.weights}})
		if err != nil {
			return nil, err
		}
		all = append(all, toolchain.Object{Name: "weights", Data: obj})
	}
	text, err := b.descriptionText()
	if err != nil {
		return nil, err
	}
	obj, err := b.in.Tools.Section(ctx, b.in.Target, describe.Section, describeSymbol, text)
	if err != nil {
		return nil, err
	}
	return append(all, toolchain.Object{Name: "description", Data: obj}), nil
}

// shared links the shared library.
func (b *build) shared(ctx context.Context) ([]byte, error) {
	return b.link(ctx, func(objs []toolchain.Object, out string) error {
		return b.in.Tools.LinkShared(ctx, b.in.Target, objs, driver.Exports(b.name), b.name+".so", out)
	}, os.ReadFile)
}

// archive makes the static library.
func (b *build) archive(ctx context.Context) ([]byte, error) {
	return b.link(ctx, func(objs []toolchain.Object, out string) error {
		return b.in.Tools.Archive(ctx, b.in.Target, objs, driver.Exports(b.name), b.name, out)
	}, os.ReadFile)
}

// object is the only member of the archive.
func (b *build) object(ctx context.Context) ([]byte, error) {
	return b.link(ctx, func(objs []toolchain.Object, out string) error {
		return b.in.Tools.Archive(ctx, b.in.Target, objs, driver.Exports(b.name), b.name, out)
	}, func(archive string) ([]byte, error) {
		return b.in.Tools.Run(ctx, "llvm-ar", nil, "p", archive)
	})
}

// link calls make with all parts and the path of a temporary file, and reads that file.
func (b *build) link(ctx context.Context, make func(objs []toolchain.Object, out string) error, read func(string) ([]byte, error)) ([]byte, error) {
	objs, err := b.parts(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ripc-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w (TMPDIR must name a writable folder)", err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, b.name)
	if err := make(objs, out); err != nil {
		return nil, err
	}
	return read(out)
}
