package task

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/lab/figures"
)

// TestRun: a run measures each case in each round and writes the pages; a stopped one goes on where it was; what was measured is not measured again
// unless it is asked for.
func TestRun(t *testing.T) {
	_, err := toolchain.Find()
	need.OK(t, err)
	t.Chdir(t.TempDir())
	var measured []string
	stopAt := 4
	stopped := errors.New("stopped")
	one := func(name string, once bool) Case {
		return Case{Key: figures.Key{Subject: name}, Once: once, Measure: func(context.Context, figures.Mark) ([]figures.Figure, error) {
			if measured = append(measured, name); len(measured) == stopAt {
				return nil, stopped
			}
			return []figures.Figure{{Values: map[string]float64{"min_ms": float64(len(measured))}}, {Key: figures.Key{Subject: name, Variant: "more"}}}, nil
		}}
	}
	k := &Task{Name: "t", Dir: "data",
		Cases: func(context.Context, *regexp.Regexp) ([]Case, error) {
			return []Case{one("a", false), one("b", true), one("c", false)}, nil
		},
		Pages: func(root string, s *figures.Store) (map[string]string, error) {
			return map[string]string{filepath.Join(root, "out", "page"): Format(s.Find(figures.Key{Subject: "a"}).Values["min_ms"], "%.0f")}, nil
		}}
	run := func(o Options, want string, failure error) {
		t.Helper()
		measured = nil
		o.Rounds, o.Log = 2, io.Discard
		if err := k.Run(t.Context(), o, io.Discard); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if got := strings.Join(measured, ""); got != want {
			t.Errorf("measured %q, want %q", got, want)
		}
		stopAt = 0
	}
	run(Options{}, "abca", stopped)
	run(Options{}, "ac", nil)
	run(Options{}, "", nil)
	run(Options{Missing: true, Only: "a"}, "", nil)
	run(Options{Anew: true, Only: "[bc]"}, "bcc", nil)
	run(Options{Page: true, Store: "other"}, "", nil)
	if text, err := os.ReadFile("out/page"); err != nil || string(text) != "1" {
		t.Errorf("%s, %v", text, err)
	}
	if err := k.Run(t.Context(), Options{Rounds: 1, Only: "x", Log: io.Discard}, io.Discard); err == nil || !strings.Contains(err.Error(), "there are a, b, c") {
		t.Error(err)
	}
	s, err := figures.Open(k.File())
	if err != nil || len(s.Latest()) != 6 || s.Latest()[0].Task != "t" || s.Latest()[0].CPU == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestFill: marks of a page must be those that are filled.
func TestFill(t *testing.T) {
	root := t.TempDir()
	const text = "a\n<!-- numbers: x begin -->\nold\n<!-- numbers: x end -->\n"
	if err := os.WriteFile(filepath.Join(root, "p"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Fill(root, "p", map[string]string{"x": "new\n"})
	if want := strings.Replace(text, "old", "new", 1); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []map[string]string{{"y": ""}, {}} {
		if _, err := Fill(root, "p", bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// TestWrite: no file is written if a picture has a number that is not finite.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(map[string]string{filepath.Join(dir, "a.md"): "", filepath.Join(dir, "b.svg"): `<rect x="NaN"/>`}); err == nil {
		t.Error("NaN is written")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}
