package llvm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"ripc/codegen"
	"ripc/codegen/llvm/link"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/codegen/web"
	"ripc/internal/abi"
	"ripc/internal/container"
	"ripc/internal/files"
	"ripc/runtime/describe"
	"ripc/targets"
)

// file makes one file.
func (b *build) file(ctx context.Context, back Backend, k codegen.Kind) ([]byte, error) {
	switch k {
	case codegen.SO, codegen.WASM:
		return b.linkShared(ctx)
	case codegen.NPM, codegen.HTML:
		n, err := b.forWeb(ctx, back, k == codegen.NPM)
		if err != nil {
			return nil, err
		}
		if k == codegen.HTML {
			return web.Page(n)
		}
		return web.Package(n)
	case codegen.Runnable:
		w, err := b.threaded(back)
		if err != nil {
			return nil, err
		}
		return w.runnable(ctx)
	case codegen.Archive:
		return b.archive(ctx)
	case codegen.Object:
		return b.object(ctx)
	case codegen.LL:
		var texts [][]byte
		for _, m := range b.modules {
			texts = append(texts, m.ll)
		}
		return b.join(";", texts), nil
	case codegen.Asm:
		texts, err := b.compile(ctx, toolchain.Asm)
		if err != nil {
			return nil, err
		}
		row, _ := rows.Of(b.Target)
		return b.join(row.CommentMark, texts), nil
	}
	return nil, &codegen.KindError{Kind: string(k)}
}

// forWeb links the modules of the target and its variants, and, if threads, those for several.
func (b *build) forWeb(ctx context.Context, back Backend, threads bool) (web.Network, error) {
	n := web.Network{Artifact: b.Description, Kernels: b.ForWebGPU, Refused: b.NoWebGPU}
	for _, t := range append(b.Target.Variants(), b.Target) {
		w, err := b.variant(back, t)
		if err != nil {
			return n, err
		}
		m := web.Module{Target: t.Name}
		if m.Code, err = w.linkShared(ctx); err == nil && threads {
			if w, err = w.threaded(back); err == nil {
				m.Threaded, err = w.linkShared(ctx)
			}
		}
		if err != nil {
			return n, err
		}
		n.Modules = append(n.Modules, m)
	}
	return n, nil
}

// variant is the build of the same schedules for another target.
func (b *build) variant(back Backend, t targets.Target) (w *build, err error) {
	m, d := *b.Image, *b.Description
	d.Target, d.Features = t.Name, t.Features
	m.Target, m.Description, m.Kernels = t, &d, map[string]codegen.Kernel{}
	for name, k := range b.Kernels {
		if m.Kernels[name], err = back.Kernel(m.Program.FuncByName(name), k.Symbol, t, m.Floats); err != nil {
			return nil, err
		}
	}
	if w, err = back.newBuild(&m, []codegen.Kind{codegen.Runnable}); err == nil {
		w.tools, w.cache = b.tools, b.cache
	}
	return w, err
}

// threaded is the build of a module that several threads run. Its driver alone is other code: the
// kernels share nothing. Libraries of other kinds are that already.
func (b *build) threaded(back Backend) (*build, error) {
	t := b.Target.Threaded()
	if len(t.Features) == len(b.Target.Features) {
		return b, nil
	}
	m, d := *b.Image, *b.Description
	d.Features = t.Features
	m.Target, m.Description = t, &d
	w, err := back.newBuild(&m, b.kinds)
	if err != nil {
		return nil, err
	}
	w.tools, w.cache = b.tools, b.cache
	for i := range m.Order {
		w.modules[i].target = b.Target
	}
	return w, nil
}

// join puts the texts of all modules into one, each below a line "MARK module NAME".
func (b *build) join(mark string, texts [][]byte) []byte {
	var out []byte
	for i, m := range b.modules {
		if i > 0 {
			out = append(out, '\n')
		}
		out = fmt.Appendf(out, "%s module %s\n", mark, m.name)
		out = append(out, texts[i]...)
	}
	return out
}

// compile compiles all modules, in order.
func (b *build) compile(ctx context.Context, kind toolchain.Kind) ([][]byte, error) {
	var jobs []toolchain.Job
	for _, m := range b.modules {
		jobs = append(jobs, toolchain.Job{Name: m.name, LL: m.ll, Target: m.target, Kind: kind})
	}
	// To tell how far it is, CompileAll gets a few jobs at a time.
	report, step := b.Progress, len(jobs)
	if report != nil {
		step = 4 * runtime.GOMAXPROCS(0)
		report(0, len(jobs))
	}
	var out [][]byte
	for len(out) < len(jobs) {
		some, err := b.tools.CompileAll(ctx, b.cache, jobs[len(out):min(len(out)+step, len(jobs))])
		if err != nil {
			return nil, fmt.Errorf("compiling for %s: %w", b.Target.Name, err)
		}
		out = append(out, some...)
		if report != nil {
			report(len(out), len(jobs))
		}
	}
	return out, nil
}

// parts returns everything to be linked: modules, weights, description with room bytes behind it.
func (b *build) parts(ctx context.Context, room int) ([]toolchain.Object, error) {
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
	if len(b.Weights) > 0 {
		obj, err := toolchain.Constants(b.Target, []toolchain.Blob{{Symbol: abi.Weights, Data: b.Weights}})
		if err != nil {
			return nil, err
		}
		all = append(all, obj)
	}
	if b.NoDescribe {
		return all, nil
	}
	text, err := b.DescriptionText()
	if err != nil {
		return nil, err
	}
	if !toolchain.MapsSections(b.Target) { // no code reads it
		text = container.Compress(text)
	}
	obj, err := toolchain.Section(b.Target, describe.Section, abi.Describe, text, room)
	if err != nil {
		return nil, err
	}
	return append(all, toolchain.Object{Name: "description", Data: obj}), nil
}

// linkShared links the shared library.
func (b *build) linkShared(ctx context.Context) ([]byte, error) {
	lib, err := b.link(ctx, container.SealSize, func(objs []toolchain.Object, out string) error {
		return b.tools.LinkShared(ctx, b.Target, objs, b.exports, b.soname(), out)
	}, os.ReadFile)
	if err != nil {
		return nil, err
	}
	return b.sealed(lib)
}

func (b *build) soname() string { return b.Name + ".so" }

// sealed is the library with its checksum: it is the one kind of file that nobody links on. The
// checksum lies behind the description; without one nothing would look for it.
func (b *build) sealed(lib []byte) ([]byte, error) {
	if b.NoDescribe {
		return lib, nil
	}
	if err := container.Seal(lib); err != nil {
		return nil, fmt.Errorf("checksum of %s: %w", b.soname(), err)
	}
	return lib, nil
}

// runnable is a shared library like shared's, of the same code and constants, but linked without a
// tool, since starting ld.lld would slow a tuner down. ld.lld links objects that package link
// refuses, or reports the error.
func (b *build) runnable(ctx context.Context) ([]byte, error) {
	objs, err := b.parts(ctx, container.SealSize)
	if err != nil {
		return nil, err
	}
	lib, err := link.SharedLibrary(b.Target, objs, b.exports, b.soname())
	if err != nil {
		return b.linkShared(ctx)
	}
	return b.sealed(lib)
}

// archive makes the static library.
func (b *build) archive(ctx context.Context) ([]byte, error) {
	return b.link(ctx, 0, func(objs []toolchain.Object, out string) error {
		return b.tools.Archive(ctx, b.Target, objs, b.exports, b.Name, out)
	}, os.ReadFile)
}

// object is the only member of the archive.
func (b *build) object(ctx context.Context) ([]byte, error) {
	return b.link(ctx, 0, func(objs []toolchain.Object, out string) error {
		return b.tools.Archive(ctx, b.Target, objs, b.exports, b.Name, out)
	}, func(archive string) ([]byte, error) {
		return b.tools.Run(ctx, "llvm-ar", nil, "p", archive)
	})
}

// link calls make with all parts, room bytes behind the description, and the path of a temporary
// file, and reads that file.
func (b *build) link(ctx context.Context, room int, make func(objs []toolchain.Object, out string) error,
	read func(string) ([]byte, error)) ([]byte, error) {
	objs, err := b.parts(ctx, room)
	if err != nil {
		return nil, err
	}
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer remove()
	out := filepath.Join(dir, "network")
	if err := make(objs, out); err != nil {
		return nil, err
	}
	return read(out)
}
