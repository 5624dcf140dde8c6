package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/golden"
	"ripc/internal/need"
	"ripc/lab/figures"
)

// TestPages: the pages have the figures of lab/data. -update fills them, as --page does.
func TestPages(t *testing.T) {
	root := ".."
	for _, k := range tasks() {
		if !k.Committed() {
			continue
		}
		s, err := figures.Open(filepath.Join(root, k.File()))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Latest()) == 0 {
			t.Errorf("%s has no figures", k.Name)
		}
		pages, err := k.Pages(root, s)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		for page, text := range pages {
			golden.Check(t, page, []byte(text))
		}
	}
}

// TestMarks: each figure says when and where it was measured, and of which code.
func TestMarks(t *testing.T) {
	for _, k := range tasks() {
		if !k.Committed() {
			continue
		}
		s, err := figures.Open(filepath.Join("..", k.File()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Latest() {
			if f.Task != k.Name || f.Date == "" || f.Commit == "" || f.CPU == "" {
				t.Errorf("%s: %+v", k.Name, f)
			}
		}
	}
}

// TestInterrupted: a command that a signal ended, such as that of a time limit, says so.
func TestInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := nameSignal(ctx, fmt.Errorf("layer 3: %w", ctx.Err())); !strings.HasPrefix(err.Error(), "interrupted") {
		t.Error(err)
	}
	if other := errors.New("no room"); nameSignal(ctx, other) != other {
		t.Error("another error is lost")
	}
}

// TestBench: without any other engine, the whole command measures ripc and the limits, and names what it leaves out.
func TestBench(t *testing.T) {
	_, err := toolchain.Find()
	need.OK(t, err)
	dir := t.TempDir()
	program := filepath.Join(dir, "lab")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir = ".."
		out, err := cmd.Output()
		return string(out), err
	}
	file := filepath.Join(dir, "own.jsonl")
	out, err := run("bench", "--only", "convD", "--turns", "1", "--time", "1ms", "--threads", "1", "--dir", filepath.Join(dir, "none"), "--store", file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := figures.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Find(figures.Key{Subject: "convD", Variant: "ripc, 2 bits", Threads: 1})
	if f == nil {
		t.Fatalf("no figure of 2 bits:\n%s", out)
	}
	const macs = 115605504
	products := 0.0 // by what the CPU has: of bits two for each pair of numbers, of tables and bytes one
	for name, n := range f.Values {
		if strings.HasSuffix(name, "_products") {
			products += n
		}
	}
	if f.Values["min_ms"] <= 0 || f.Values["median_ms"] < f.Values["min_ms"] || products != macs && products != 2*macs {
		t.Errorf("%+v", f)
	}
	for _, engine := range []string{"ripc, 3 bits", "ripc, fp32"} {
		if f := s.Find(figures.Key{Subject: "convD", Variant: engine, Threads: 1}); f == nil || f.Has("min_ms") == (f.Why != "") {
			t.Errorf("%s: %+v", engine, f)
		}
	}
	if !slices.ContainsFunc(s.Latest(), func(f *figures.Figure) bool { return f.Subject == "limits" && f.Values["macs_per_cycle"] > 0 }) {
		t.Error("no limit was measured")
	}
	for _, args := range [][]string{{"bench", "--only", "nothing"}, {"bench", "--threads", "0"}, {"bench", "--turns", "0"}, {"numbers", "--rounds", "0"}} {
		if _, err := run(append(args, "--store", filepath.Join(dir, "none"))...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a run that fails at once leaves a file of figures")
	}
}
