package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/caches"
	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// popcountLL adds up the set bits of 16 bytes: cnt on Arm, and on x86 popcnt or a vector sequence. It takes the data
// from a hidden symbol that Constants defines.
const popcountLL = `
@weights = external hidden constant [16 x i8], align 64

define i32 @net_run() nounwind {
  %p = getelementptr inbounds [16 x i8], [16 x i8]* @weights, i64 0, i64 0
  %q = bitcast i8* %p to <16 x i8>*
  %v = load <16 x i8>, <16 x i8>* %q, align 16
  %c = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %v)
  %w = zext <16 x i8> %c to <16 x i32>
  %s = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %w)
  ret i32 %s
}

define hidden void @unused() nounwind {
  ret void
}

declare <16 x i8> @llvm.ctpop.v16i8(<16 x i8>)
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)
`

// loopLL is a scalar loop that LLVM's vectorizer would widen.
const loopLL = `
define void @add(i32* noalias %p, i32* noalias %q) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %n, %loop ]
  %a = getelementptr i32, i32* %p, i64 %i
  %b = getelementptr i32, i32* %q, i64 %i
  %v = load i32, i32* %b
  %w = add i32 %v, 7
  store i32 %w, i32* %a
  %n = add i64 %i, 1
  %c = icmp ult i64 %n, 4096
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
`

func target(t *testing.T, name string) targets.Target {
	t.Helper()
	tg, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

func TestCompileEveryTarget(t *testing.T) {
	tools := needTools(t)
	for _, tg := range targets.All() {
		if tg.Bare || tg.IsDevice() {
			continue
		}
		obj, err := tools.Compile(context.Background(), nil, []byte(popcountLL), tg, Obj)
		if err != nil {
			t.Errorf("%s: %v", tg.Name, err)
			continue
		}
		row, _ := rows.Of(tg)
		if row.Format == rows.WASM {
			if !bytes.HasPrefix(obj, []byte("\x00asm")) {
				t.Errorf("%s: no module: % x", tg.Name, obj[:4])
			}
			continue
		}
		f, err := elf.NewFile(bytes.NewReader(obj))
		if err != nil {
			t.Errorf("%s: %v", tg.Name, err)
			continue
		}
		if f.Type != elf.ET_REL || f.Machine != row.Machine || f.Class != row.Class {
			t.Errorf("%s: %v for %v", tg.Name, f.Type, f.Machine)
		}
	}
}

func TestCompileAsm(t *testing.T) {
	tools := needTools(t)
	tests := []struct {
		target, ll string
		has, not   string
	}{
		{"rpi3", popcountLL, "cnt\tv", "call"},
		{"x86-64-v3", popcountLL, "vpshufb", "call"},
		{"x86-64-v3", loopLL, "addl", "vpaddd"},
		{"rpi4", loopLL, "add\tw", "v0.4s"},
	}
	for _, tt := range tests {
		asm, err := tools.Compile(context.Background(), nil, []byte(tt.ll), target(t, tt.target), Asm)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(asm, []byte(tt.has)) || bytes.Contains(asm, []byte(tt.not)) {
			t.Errorf("%s: want %q, and no %q, in\n%s", tt.target, tt.has, tt.not, asm)
		}
	}
}

func TestCompileError(t *testing.T) {
	tools := needTools(t)
	ll := []byte("define i32 @f() {\n  ret i64 0\n}\n")
	_, err := tools.Compile(context.Background(), nil, ll, target(t, "rpi3"), Obj)
	var te *ToolError
	if !errors.As(err, &te) || te.Input == "" {
		t.Fatalf("got %v", err)
	}
	defer os.Remove(te.Input)
	kept, rerr := os.ReadFile(te.Input)
	if rerr != nil || !bytes.Equal(kept, ll) {
		t.Errorf("the input was not kept: %v", rerr)
	}
	for _, want := range []string{te.Input + ":2:", "ret i64 0", "command: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestCompileCached(t *testing.T) {
	tools, cache := needTools(t), openCache(t)
	ctx, ll, tg := context.Background(), []byte(popcountLL), target(t, "rpi3")
	compile := func(tg targets.Target, kind Kind) []byte {
		t.Helper()
		out, err := tools.Compile(ctx, cache, ll, tg, kind)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	stats := func(hits, misses, damaged int) {
		t.Helper()
		if got := cache.Stats(); got.Hits != hits || got.Misses != misses || got.Damaged != damaged {
			t.Errorf("%+v; want %d hits, %d misses, %d damaged", got, hits, misses, damaged)
		}
	}
	first := compile(tg, Obj)
	stats(0, 1, 0)
	if !bytes.Equal(compile(tg, Obj), first) {
		t.Error("the cached object differs")
	}
	stats(1, 1, 0)
	compile(tg, Asm)
	compile(target(t, "rpi4"), Obj)
	stats(1, 3, 0)
	key := tools.key(ll, tg, Obj)
	if err := os.WriteFile(filepath.Join(cache.Dir(), key[:2], key[2:]), []byte("rubbish"), 0o666); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(compile(tg, Obj), first) {
		t.Error("compiling again gives another object")
	}
	stats(1, 4, 1)
}

func TestCompileAll(t *testing.T) {
	tools, cache := needTools(t), openCache(t)
	ctx := context.Background()
	var jobs []Job
	for _, name := range []string{"rpi3", "x86-64-v3", "rpi3", "rpi4"} {
		jobs = append(jobs, Job{name, []byte(popcountLL), target(t, name), Obj})
	}
	objs, err := tools.CompileAll(ctx, cache, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		want, err := tools.Compile(ctx, cache, j.LL, j.Target, j.Kind)
		if err != nil || !bytes.Equal(objs[i], want) {
			t.Errorf("job %d: wrong object (%v)", i, err)
		}
	}
	if s := cache.Stats(); s.Misses != 3 {
		t.Errorf("equal jobs were compiled more than once: %+v", s)
	}
	jobs[1].LL = []byte("nonsense")
	_, err = tools.CompileAll(ctx, cache, jobs)
	var te *ToolError
	if !errors.As(err, &te) || !strings.HasPrefix(err.Error(), "x86-64-v3: ") {
		t.Fatalf("got %v", err)
	}
	os.Remove(te.Input)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tools.CompileAll(stopped, nil, jobs[:1]); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func openCache(t *testing.T) *caches.Cache {
	t.Helper()
	c, err := caches.Open(t.TempDir(), caches.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
