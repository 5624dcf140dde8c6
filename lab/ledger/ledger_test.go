package ledger

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/golden"
	"ripc/internal/need"
	"ripc/lab/figures"
	"ripc/measure/limits"
	"ripc/targets"
)

var root = filepath.Join("..", "..")

// TestPage: the file is as the command writes it, and the page is the file's. -update fills the page.
func TestPage(t *testing.T) {
	path := filepath.Join(root, file)
	l, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Rows) == 0 {
		t.Fatalf("%s has no rows", file)
	}
	text, err := l.text()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, path, []byte(text))
	golden.Check(t, filepath.Join(root, page), []byte(l.page()))
	for _, r := range l.Rows {
		for name, c := range r.Layers {
			if c.best() <= 0 || c.now() < c.best() || c.limit() < 0 || strings.Contains(name, "\n") {
				t.Errorf("%s on %s, layer %s: %v", r.Subject, r.Target, name, c)
			}
		}
	}
	for _, x := range l.Accepted {
		if x.Reason == "" || x.Date == "" || x.To <= x.From {
			t.Errorf("accepted without a reason, a date or a loss: %+v", x)
		}
	}
}

// TestEnter: the fewest cycles stay, a rise of more than the tolerance is a loss, and a reason makes it the fewest.
func TestEnter(t *testing.T) {
	l := &ledger{}
	enter := func(whole, a int64, reason string) []loss {
		r := rowOf(&figures.Figure{Key: figures.Key{Subject: "net", Target: "board"}, Mark: figures.Mark{Date: "2026-01-02"},
			Values: map[string]float64{"cycles": float64(whole), "limit_cycles": 50, "a b cycles": float64(a), "a b limit_cycles": 40}})
		return l.enter(r, reason)
	}
	best := func(whole, a int64) {
		t.Helper()
		if r := l.find("board", "net"); r.Cycles.best() != whole || r.Layers["a b"].best() != a || r.Layers["a b"].limit() != 40 {
			t.Errorf("%+v, want fewest %d and %d", r, whole, a)
		}
	}
	if got := enter(1000, 500, ""); len(got) != 0 {
		t.Error(got)
	}
	best(1000, 500)
	if got := enter(900, 510, ""); len(got) != 0 { // within the tolerance
		t.Error(got)
	}
	best(900, 500)
	want := loss{Date: "2026-01-02", Target: "board", Subject: "net", Layer: "a b", From: 500, To: 511}
	if got := enter(918, 511, ""); !slices.Equal(got, []loss{want}) {
		t.Error(got)
	}
	best(900, 500)
	if len(l.Accepted) != 0 {
		t.Error(l.Accepted)
	}
	want.Reason = "another order of sums"
	if got := enter(918, 511, want.Reason); !slices.Equal(got, []loss{want}) || !slices.Equal(l.Accepted, got) {
		t.Error(got, l.Accepted)
	}
	best(900, 511)
	if got := enter(918, 511, ""); len(got) != 0 {
		t.Error(got)
	}
	if got := enter(2000, 100, ""); len(got) != 1 || got[0].Layer != "" || !strings.Contains(lossError(got).Error(), "net on board: 2000 cycles, 900 before (2.222 times)") {
		t.Error(got)
	}
	best(900, 100)
}

// TestText: a ledger that is written and read again is the same, whatever the order of its rows.
func TestText(t *testing.T) {
	one, two := &row{Target: "a", Subject: "x", Layers: map[string]cycles{"l": {3, 2, 1}}}, &row{Target: "b", Subject: "a"}
	texts := map[string]bool{}
	for _, rows := range [][]*row{{one, two}, {two, one}} {
		l := &ledger{Format: format, LLVM: "1", Limits: map[string]map[string]float64{"a": {"bits": 2}}, Rows: rows,
			Accepted: []loss{{Date: "2026-01-02", Reason: `"r"`, From: 1, To: 2}}}
		text, err := l.text()
		if err != nil {
			t.Fatal(err)
		}
		texts[text] = true
		path := filepath.Join(t.TempDir(), "l.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.text(); err != nil || got != text {
			t.Errorf("%v: got\n%s\nwant\n%s", err, got, text)
		}
	}
	if len(texts) != 1 {
		t.Errorf("%d texts of one ledger", len(texts))
	}
	path := filepath.Join(t.TempDir(), "l.json")
	if err := os.WriteFile(path, []byte(`{"format":"ripc.ledger/9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path); err == nil || !strings.Contains(err.Error(), format) {
		t.Error(err)
	}
}

// sample lists subjects with the targets that the tests measure them on: each target has some.
func sample() map[string][]string {
	all := map[string][]string{"mlp4": {"rpi3"}, "vehicle_lbp": {"rpi4"}}
	for _, layer := range "ABCD" {
		all[fmt.Sprintf("conv%c_n1_unipolar", layer)] = vectorMachines()
	}
	for i, name := range boards() {
		for k := range 2 {
			s := drawnSubject(firstDrawn + uint64(len(boards())*k+i)).name
			all[s] = append(all[s], name)
		}
	}
	return all
}

// TestSample: no layer of the sample takes more cycles than the tolerance allows.
func TestSample(t *testing.T) {
	tools := findTools(t)
	l, err := read(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if l.LLVM != tools.Version() {
		t.Skipf("skipped: the ledger is of LLVM %s, here is LLVM %s", l.LLVM, tools.Version())
	}
	t.Chdir(root) // of the models
	all, err := subjects()
	if err != nil {
		t.Fatal(err)
	}
	r, left := newRunner(), sample()
	for _, s := range all {
		for _, name := range left[s.name] {
			if l.find(name, s.name) == nil {
				t.Errorf("%s has no row of %s on %s: go run ./lab ledger", file, s.name, name)
				continue
			}
			f := figures.Figure{Key: figures.Key{Subject: s.name, Target: name}, Values: values(t, r, s, name)}
			for _, x := range l.enter(rowOf(&f), "") {
				t.Errorf("%v: mend it, or name the reason: go run ./lab ledger --accept REASON", x)
			}
		}
		delete(left, s.name)
	}
	if len(left) > 0 {
		t.Errorf("no subjects: %v", left)
	}
}

// TestDeterministic: the same layer has the same cycles each time, without any cache.
func TestDeterministic(t *testing.T) {
	findTools(t)
	var first map[string]float64
	for i := range 2 {
		t.Setenv(caches.Env, t.TempDir())
		v := values(t, newRunner(), drawnSubject(firstDrawn), "rpi3")
		if i == 0 {
			first = v
		} else if !maps.Equal(first, v) {
			t.Errorf("%v, then %v", first, v)
		}
	}
}

// TestLimits: each board has all limits, and dot products of bytes show in them.
func TestLimits(t *testing.T) {
	findTools(t)
	r, all := newRunner(), map[string]map[string]float64{}
	for _, name := range boards() {
		b, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = r.limitsOf(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, limit := range limits.Names() {
			if all[name][limit] <= 0 {
				t.Errorf("%s has no limit %s: %v", name, limit, all[name])
			}
		}
	}
	if all["rpi5"]["int8"] <= all["rpi5"]["fp32"] || all["rpi3"]["bits"] <= all["rpi3"]["fp32"] {
		t.Errorf("%v", all)
	}
}

func findTools(t *testing.T) *toolchain.Tools {
	tools, err := toolchain.Find()
	need.OK(t, err)
	need.Tool(t, "qemu-aarch64")
	need.Tool(t, "qemu-arm")
	need.Tool(t, "qemu-riscv64")
	return tools
}

// values measures a subject on a target.
func values(t *testing.T, r *runner, s subject, target string) map[string]float64 {
	t.Helper()
	model, err := s.model(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := targets.Lookup(target)
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.measure(t.Context(), model, b)
	if err != nil {
		t.Fatalf("%s on %s: %v", s.name, target, err)
	}
	return v
}
