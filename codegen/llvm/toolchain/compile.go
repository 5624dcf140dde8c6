package toolchain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ripc/caches"
	"ripc/codegen/llvm/library"
	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// Kind is a kind of output of Compile.
type Kind int

const (
	Obj Kind = iota // relocatable object
	Asm             // assembly text
)

// String returns llc's name of the kind.
func (k Kind) String() string {
	if k == Asm {
		return "asm"
	}
	return "obj"
}

// Settings of opt and llc for every target: opt's passes and llc's optimization level.
const (
	passes = "default<O2>"
	level  = 3
)

// optFlags are opt's flags of any target. ripc has vectorized and interleaved where its schedule
// says so; LLVM's vectorizers would only change code that a schedule left scalar on purpose.
// Unrolling stays on.
func optFlags() []string {
	return []string{"-vectorize-loops=false", "-vectorize-slp=false", "-interleave-loops=false"}
}

// llcFlags returns llc's flags for a target but for its row's. Each function gets its own section,
// so that the linker drops unused ones.
func llcFlags(row rows.Row) []string {
	return append(containerOf(row).flags(), "-function-sections", "-data-sections")
}

// optArgs are opt's arguments.
func optArgs(t targets.Target) []string {
	row, _ := rows.Of(t)
	return slices.Concat([]string{"-mtriple=" + row.Triple, "-mcpu=" + row.CPU, "-mattr=" + row.Attrs,
		"-passes=" + passes}, optFlags(), []string{"-o", "-"})
}

// llcArgs are llc's arguments.
func (t *Tools) llcArgs(tg targets.Target, kind Kind) []string {
	row, _ := rows.Of(tg)
	return slices.Concat([]string{fmt.Sprintf("-O%d", level), "-mtriple=" + row.Triple, "-mcpu=" + row.CPU,
		"-mattr=" + row.Attrs}, llcFlags(row), []string{"-filetype=" + kind.String(), "-o", "-"}, row.LLC(t.version))
}

// settings are optArgs and llcArgs for LLVM's library.
func (t *Tools) settings(tg targets.Target) library.Settings {
	row, _ := rows.Of(tg)
	return library.Settings{Backend: row.Backend, Triple: row.Triple, CPU: row.CPU, Attrs: row.Attrs,
		Passes: passes, Opt: optFlags(), LLC: append(llcFlags(row), row.LLC(t.version)...), Level: level}
}

// key names the result of compiling ll for t in the cache.
func (t *Tools) key(ll []byte, tg targets.Target, kind Kind) string {
	parts := [][]byte{[]byte("compile/1"), []byte(t.version)}
	for _, a := range append(optArgs(tg), t.llcArgs(tg, kind)...) {
		parts = append(parts, []byte(a))
	}
	return caches.Key(append(parts, ll)...)
}

// Compile optimizes the LLVM IR text ll and generates code for t. cache may be nil. It fails with
// ctx's error, or with *ToolError, which has the tool's messages and names a file that holds ll.
func (t *Tools) Compile(ctx context.Context, cache *caches.Cache, ll []byte, tg targets.Target,
	kind Kind) ([]byte, error) {
	key := t.key(ll, tg, kind)
	if out, ok := cache.Get(key); ok {
		return out, nil
	}
	out, err := t.generate(ctx, ll, tg, kind)
	if err != nil {
		return nil, err
	}
	cache.Put(key, out)
	return out, nil
}

// generate is Compile without a cache: by LLVM's library, if it can, which has the same result as
// the tools. The names of blocks in the comments of assembly are others there, since no bitcode
// lies between opt and llc.
func (t *Tools) generate(ctx context.Context, ll []byte, tg targets.Target, kind Kind) ([]byte, error) {
	if t.library != nil && kind == Obj {
		obj, err := t.library.Compile(ctx, t.settings(tg), ll)
		if err == nil {
			return obj, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("LLVM was stopped: %w", context.Cause(ctx))
		}
	}
	bitcode, err := t.Run(ctx, "opt", ll, optArgs(tg)...)
	if err != nil {
		return nil, withInput(err, ll)
	}
	out, err := t.Run(ctx, "llc", bitcode, t.llcArgs(tg, kind)...)
	if err != nil {
		return nil, withInput(err, ll)
	}
	return out, nil
}

// withInput keeps ll in a file if a tool refused it.
func withInput(err error, ll []byte) error {
	var te *ToolError
	if errors.As(err, &te) {
		return keepInput(te, "ripc-*.ll", ll)
	}
	return err
}

// Job is one call of Compile.
type Job struct {
	Name   string // for messages
	LL     []byte
	Target targets.Target
	Kind   Kind
}

// CompileAll compiles the jobs, up to GOMAXPROCS at a time, and returns the results in the order of
// jobs. Equal jobs are compiled once and share their result, which must not be changed. The first
// error stops the rest.
func (t *Tools) CompileAll(ctx context.Context, cache *caches.Cache, jobs []Job) ([][]byte, error) {
	out := make([][]byte, len(jobs))
	same := make([]int, len(jobs)) // index of the first job equal to this one
	first := map[string]int{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		key := t.key(j.LL, j.Target, j.Kind)
		if f, ok := first[key]; ok {
			same[i] = f
			continue
		}
		first[key], same[i] = i, i
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			obj, err := t.Compile(ctx, cache, j.LL, j.Target, j.Kind)
			if err != nil {
				return fmt.Errorf("%s: %w", j.Name, err)
			}
			out[i] = obj
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, f := range same {
		out[i] = out[f]
	}
	return out, nil
}
