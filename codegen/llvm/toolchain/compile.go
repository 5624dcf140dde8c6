package toolchain

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// Kind is what Compile produces.
type Kind int

const (
	Obj Kind = iota // relocatable ELF object
	Asm             // assembly text
)

// String returns llc's name of the kind.
func (k Kind) String() string {
	if k == Asm {
		return "asm"
	}
	return "obj"
}

// optArgs are opt's arguments. ripc has vectorized and interleaved where its schedule says so; LLVM's vectorizers
// would only change code that a schedule left scalar on purpose. Unrolling stays on.
func optArgs(t targets.Target) []string {
	row, _ := rows.Of(t)
	return []string{
		"-mtriple=" + row.Triple, "-mcpu=" + row.CPU, "-mattr=" + row.Attrs,
		"-passes=default<O2>", "-vectorize-loops=false", "-vectorize-slp=false", "-interleave-loops=false",
		"-o", "-",
	}
}

// llcArgs are llc's arguments. Each function gets its own section, so that the linker drops what nothing uses.
func (t *Tools) llcArgs(tg targets.Target, kind Kind) []string {
	row, _ := rows.Of(tg)
	return append([]string{
		"-O3", "-mtriple=" + row.Triple, "-mcpu=" + row.CPU, "-mattr=" + row.Attrs,
		"-relocation-model=pic", "-function-sections", "-data-sections", "-filetype=" + kind.String(),
		"-o", "-",
	}, row.LLC(t.version)...)
}

// key names the result of compiling ll for t in the cache.
func (t *Tools) key(ll []byte, tg targets.Target, kind Kind) string {
	parts := [][]byte{[]byte("compile/1"), []byte(t.version)}
	for _, a := range append(optArgs(tg), t.llcArgs(tg, kind)...) {
		parts = append(parts, []byte(a))
	}
	return Key(append(parts, ll)...)
}

// Compile optimizes the LLVM IR text ll and generates code for t. cache may be nil. It fails with *ToolError, which
// carries what the tool said and names a file that holds ll, or with ctx's error.
func (t *Tools) Compile(ctx context.Context, cache *Cache, ll []byte, tg targets.Target, kind Kind) ([]byte, error) {
	key := t.key(ll, tg, kind)
	if out, ok := cache.Get(key); ok {
		return out, nil
	}
	bitcode, err := t.Run(ctx, "opt", ll, optArgs(tg)...)
	if err != nil {
		return nil, withInput(err, ll)
	}
	out, err := t.Run(ctx, "llc", bitcode, t.llcArgs(tg, kind)...)
	if err != nil {
		return nil, withInput(err, ll)
	}
	cache.Put(key, out)
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

// CompileAll compiles the jobs, up to GOMAXPROCS at a time, and returns the results in the order of jobs. Equal jobs
// are compiled once and share their result, which must not be changed. The first error stops the rest.
func (t *Tools) CompileAll(ctx context.Context, cache *Cache, jobs []Job) ([][]byte, error) {
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
