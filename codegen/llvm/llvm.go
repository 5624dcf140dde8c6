// Package llvm is the back end that writes LLVM IR and lets LLVM's tools compile and link it:
//
//	rows       LLVM's settings for each target
//	emit       one ir.Func -> LLVM text
//	driver     the entry points, which run the stages
//	toolchain  opt, llc, ld.lld and the cache of their results
//
// Kernels are cached by their text, so that networks share them.
package llvm

import (
	"context"
	"fmt"
	"slices"

	"ripc/caches"
	"ripc/codegen"
	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/abi"
	"ripc/ir"
	"ripc/targets"
)

// Name is this back end's name in --backend.
const Name = "llvm"

// Backend implements codegen.Backend. The zero Backend looks for the installed tools when it needs
// them, and caches their results in the user's cache.
type Backend struct {
	Tools *toolchain.Tools
	Cache *caches.Cache // with Tools; may be nil
}

// Name is "llvm".
func (Backend) Name() string { return Name }

// Kinds lists the files that LLVM's tools make.
func (Backend) Kinds() []codegen.Kind {
	return []codegen.Kind{codegen.SO, codegen.WASM, codegen.NPM, codegen.HTML, codegen.Archive, codegen.Object,
		codegen.LL, codegen.Asm, codegen.Runnable}
}

// Accepts fails with *codegen.TargetError unless there is a row for t (codegen/llvm/rows), and t's
// files are of kind k.
func (Backend) Accepts(t targets.Target, k codegen.Kind) error {
	row, ok := rows.Of(t)
	var reason string
	switch {
	case t.Bare:
		reason = "the chip runs no Linux"
	case row.Format == rows.PTX:
		reason = "a GPU runs kernels, which back end cuda makes"
	case (k == codegen.WASM || k == codegen.NPM || k == codegen.HTML) && row.Format != rows.WASM:
		reason = "only wasm32 has modules of WebAssembly, and pages that use WebGPU, too"
	case !ok:
		reason = fmt.Sprintf("it knows no architecture %q", t.Arch)
	case row.Format == rows.WASM && (k == codegen.SO || k == codegen.Archive || k == codegen.Object):
		reason = "its code is linked to a module: emit wasm"
	default:
		return nil
	}
	return &codegen.TargetError{Backend: Name, Target: t.Name, Reason: reason}
}

// Limit counts LLVM's instructions.
func (Backend) Limit(f *ir.Func, t targets.Target) error { return emit.Limit(f, t) }

// Kernel makes LLVM text of f.
func (Backend) Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	m, err := emit.Kernel(f, symbol, t, floats)
	return codegen.Kernel{Symbol: m.Symbol, Text: m.LL, Scratch: m.Scratch, Stack: m.Stack, ByLane: m.ByLane}, err
}

// Files makes files. Of the kinds, LL alone needs no tools.
func (b Backend) Files(ctx context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	w, err := b.newBuild(m, kinds)
	if err != nil {
		return nil, err
	}
	files := map[codegen.Kind][]byte{}
	for _, k := range kinds {
		if k != codegen.LL && w.tools == nil {
			if w.tools, w.cache, err = b.find(); err != nil {
				return nil, err
			}
		}
		if files[k], err = w.file(ctx, b, k); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Prepare finds LLVM's tools.
func (b Backend) Prepare(context.Context, targets.Target) (ready codegen.Backend, version string, err error) {
	if b.Tools, b.Cache, err = b.find(); err != nil {
		return nil, "", err
	}
	return b, b.Tools.Version(), nil
}

// find gives the tools and the cache.
func (b Backend) find() (*toolchain.Tools, *caches.Cache, error) {
	if b.Tools != nil {
		return b.Tools, b.Cache, nil
	}
	tools, err := toolchain.Find()
	if err != nil {
		return nil, nil, err
	}
	cache, err := caches.Objects()
	return tools, cache, err
}

// module is LLVM text that becomes one object.
type module struct {
	name   string
	ll     []byte
	target targets.Target // that it is compiled for
}

// build is an Image on its way to files.
type build struct {
	*codegen.Image
	tools   *toolchain.Tools
	cache   *caches.Cache
	kinds   []codegen.Kind
	exports []string
	modules []module
	objects [][]byte // of modules, once compiled
}

// newBuild writes the driver beside the kernels. The entry with the hash in its name is for
// programs that are linked with a header. Files for engines and the web go without it: then
// schedules of a kernel have equal drivers, and a tuner compiles one for all of them.
func (b Backend) newBuild(m *codegen.Image, kinds []codegen.Kind) (*build, error) {
	w := &build{Image: m, kinds: kinds, exports: abi.Exports(m.Name)}
	info := driver.DriverInfo{
		Name: m.Name, Kernels: map[string]string{}, Units: map[string]int{}, Offsets: m.Offsets,
		Describe: abi.Describe, Arena: m.Description.ArenaBytes, Scratch: m.Description.ScratchBytes,
	}
	if slices.ContainsFunc(kinds, func(k codegen.Kind) bool { return k != codegen.Runnable }) {
		info.Run, w.exports = abi.Run(m.Name, m.ABI), m.Exports()
	}
	if m.NoDescribe || !toolchain.MapsSections(m.Target) {
		info.Describe = ""
	}
	if len(m.Weights) > 0 {
		info.Weights = abi.Weights
	}
	for _, f := range m.Order {
		k := m.Kernels[f]
		info.Kernels[f], info.Units[f] = k.Symbol, codegen.Units(m.Program.FuncByName(f))
		w.modules = append(w.modules, module{k.Symbol, k.Text, m.Target})
	}
	ll, err := driver.Driver(m.Program, info, m.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Program.Name, err)
	}
	w.modules = append(w.modules, module{m.Name + "_driver", ll, m.Target})
	check, base, err := driver.CPU(m.Name, m.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Program.Name, err)
	}
	w.modules = append(w.modules, module{m.Name + "_cpu", check, base})
	return w, nil
}
