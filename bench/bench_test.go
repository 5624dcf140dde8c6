package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/golden"
	"ripc/internal/need"
)

// TestPage: page, picture and table of a small run, made up, with everything that may be missing.
func TestPage(t *testing.T) {
	r, err := read("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/small.md", []byte(r.page("small")))
	golden.Check(t, "testdata/small.svg", []byte(r.bars()))
	golden.Check(t, "testdata/small.txt", []byte(r.table()))
}

// TestCommitted: the page, the pictures and the README's table of the last run with all engines are made from its JSON.
func TestCommitted(t *testing.T) {
	const name = "../docs/bench-peers"
	r, err := read(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, name+".md", []byte(r.page("bench-peers")))
	golden.Check(t, name+".svg", []byte(r.bars()))
	golden.Check(t, bestOf(name), []byte(r.bestBars()))
	table := r.summary(headlines(), false)
	golden.CheckSection(t, "../README.md", "<!-- peers: begin -->", "<!-- peers: end -->", table)
}

// TestFigure: the shortest and the middle time.
func TestFigure(t *testing.T) {
	if least, middle := figure([]time.Duration{4e6, 1e6, 9e6, 3e6}); least != 1 || middle != 3 {
		t.Errorf("%v, %v", least, middle)
	}
}

// TestBound: products of several kinds are done one after the other, each at its best rate with so many threads.
func TestBound(t *testing.T) {
	r := &Results{Limits: []LimitRate{{Limit: "fp32", Threads: 1, PerSecond: 1e9}, {Limit: "fp32", Threads: 1, PerSecond: 2e9}, {Limit: "bits", Threads: 1, PerSecond: 1e12}, {Limit: "fp32", Threads: 2, PerSecond: 3e9}}}
	for _, c := range []struct {
		products map[string]int64
		threads  int
		ms       float64
	}{
		{map[string]int64{"fp32": 2e6, "bits": 1e9, "int8": 0}, 1, 2}, {map[string]int64{"fp32": 3e6}, 2, 1}, {map[string]int64{"int8": 1}, 1, 0},
	} {
		if ms := r.boundMS(Figure{Products: c.products, Threads: c.threads}); ms != c.ms {
			t.Errorf("%v, threads: %d: %v ms, want %v", c.products, c.threads, ms, c.ms)
		}
	}
}

// TestSubjects: names tell subjects and entries apart, own models are there, and entries know their environment.
func TestSubjects(t *testing.T) {
	names := map[string]bool{}
	for _, s := range subjects() {
		for _, e := range s.Entries {
			if names[s.Name+"/"+e.Engine] {
				t.Errorf("%s has %q twice", s.Name, e.Engine)
			}
			names[s.Name+"/"+e.Engine] = true
			if e.Own {
				if _, err := os.Stat(filepath.Join("..", e.Model)); err != nil {
					t.Error(err)
				}
			}
			known := e.Env == ""
			for _, env := range environments() {
				known = known || e.Env == env.Name
			}
			if !known || (e.Env == "") != (e.Worker == "") {
				t.Errorf("%s, %s: environment %q, worker %q", s.Name, e.Engine, e.Env, e.Worker)
			}
		}
	}
}

// TestCommand: without any other engine, the whole command measures ripc and the limits, and names what it leaves out.
func TestCommand(t *testing.T) {
	_, err := toolchain.Find()
	need.OK(t, err)
	dir := t.TempDir()
	program := filepath.Join(dir, "bench")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir = ".."
		out, err := cmd.Output()
		return string(out), err
	}
	name := filepath.Join(dir, "out", "own")
	out, err := run("-only", "convD", "-rounds", "1", "-turn", "1ms", "-threads", "1", "-dir", filepath.Join(dir, "none"), "-out", name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := read(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Subjects) != 1 || r.Subjects[0].figure("ripc, 1 bit", 1) == nil || r.best("fp32", 1) == 0 || r.best("bits", 1) == 0 || r.best("table", 1) == 0 {
		t.Errorf("%+v", r)
	}
	f := r.Subjects[0].figure("ripc, 2 bits", 1)
	if f == nil {
		t.Fatalf("no figure of 2 bits:\n%s", out)
	}
	products := int64(0) // by what the CPU has: of bits two for each pair of numbers, of tables and bytes one
	for _, n := range f.Products {
		products += n
	}
	if macs := r.Subjects[0].MACs; f.MinMS <= 0 || f.MedianMS < f.MinMS || products != macs && products != 2*macs {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(out, "ripc, 3 bits") || !strings.Contains(out, "convD, ripc, fp32: no model convD.f32.onnx") {
		t.Errorf("it prints\n%s", out)
	}
	for _, ext := range []string{".md", ".svg"} {
		if _, err := os.Stat(name + ext); err != nil {
			t.Error(err)
		}
	}
	for _, args := range [][]string{{"-only", "nothing"}, {"-threads", "0"}, {"-rounds", "0"}, {"-page", filepath.Join(dir, "none")}} {
		if _, err := run(args...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
