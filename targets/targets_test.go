package targets_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ripc/internal/golden"
	"ripc/targets"
)

// TestListing pins every fact of the targets that do not depend on this machine.
func TestListing(t *testing.T) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	for _, tg := range targets.All() {
		if tg.Name == targets.HostName {
			continue
		}
		if err := enc.Encode(tg); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/listing.json", out.Bytes())
}

// TestMilliseconds: cycles are milliseconds at the clock of a board, and nothing where a target stands for many machines.
func TestMilliseconds(t *testing.T) {
	pi3, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	if ms, ok := pi3.Milliseconds(2.4e6); !ok || ms != 2 {
		t.Errorf("2.4 M cycles are %v ms, %v", ms, ok)
	}
	generic, err := targets.Lookup("generic-arm64")
	if err != nil {
		t.Fatal(err)
	}
	if ms, ok := generic.Milliseconds(1); ok {
		t.Errorf("a cycle is %v ms", ms)
	}
}

func TestSane(t *testing.T) {
	seen := map[string]bool{}
	for _, tg := range targets.All() {
		if seen[tg.Name] {
			t.Errorf("%s: two targets of this name", tg.Name)
		}
		seen[tg.Name] = true
		got, err := targets.Lookup(tg.Name)
		if err != nil || got.Name != tg.Name {
			t.Errorf("%s: Lookup: %v, %v", tg.Name, got, err)
		}
		if tg.Bare {
			continue // no vectors, no caches
		}
		if tg.VectorBits < 128 && !tg.Scalar() || tg.Registers < 16 || tg.CountOps < 1 || tg.L1 < 8<<10 || tg.L2 < tg.L1 || tg.Cores < 1 || tg.Board == "" {
			t.Errorf("%s: implausible: %+v", tg.Name, tg)
		}
	}
}

func TestLookupUnknown(t *testing.T) {
	_, err := targets.Lookup("rpi9")
	var unknown *targets.UnknownTargetError
	if !errors.As(err, &unknown) {
		t.Fatalf("got %v", err)
	}
	known := []string{targets.HostName}
	for _, tg := range targets.All() {
		if tg.Name != targets.HostName {
			known = append(known, tg.Name)
		}
	}
	want := `unknown target "rpi9"; there are ` + strings.Join(known, ", ")
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestMissing(t *testing.T) {
	tg := targets.Target{Features: []string{"a", "b"}}
	if got := tg.Missing([]string{"b", "x"}); len(got) != 1 || got[0] != "a" {
		t.Errorf("Missing: %v", got)
	}
}

// TestLike: targets that are like others end at one that is like none.
func TestLike(t *testing.T) {
	for _, x := range targets.All() {
		seen := map[string]bool{}
		for next := x; next.Like != ""; {
			like, err := targets.Lookup(next.Like)
			if err != nil || seen[like.Name] {
				t.Fatalf("%s is like %s again, or like none that exists: %v", x.Name, next.Like, err)
			}
			seen[like.Name], next = true, like
		}
	}
}
