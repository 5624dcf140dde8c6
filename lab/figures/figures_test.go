package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ripc/internal/need"
)

// TestStore: a store has what was appended, in a file of lines that another reads; of repeated measurements each value is reduced by its name.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "s.jsonl")
	s, err := Open(path)
	if err != nil || len(s.Latest()) != 0 {
		t.Fatal(s, err)
	}
	mark := Mark{Date: "2026-01-02", Commit: "c", CPU: "one", Tool: "t"}
	at := func(subject string, m Mark, v float64) Figure {
		return Figure{Task: "t", Key: Key{Subject: subject}, Values: map[string]float64{"min_ms": v, "median_ms": v + 1, "max_rate": v}, Mark: m}
	}
	older := mark
	older.Date = "2026-01-01"
	for _, f := range []Figure{at("a", older, 0.5), at("b", mark, 7), at("a", mark, 3), at("a", mark, 1), at("a", mark, 9)} {
		if err := s.Append(f); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(path)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Fatalf("%+v, %v, not %+v", again, err, s)
	}
	all := s.Latest()
	if len(all) != 2 || all[0].Subject != "a" || !reflect.DeepEqual(all[0].Values, map[string]float64{"min_ms": 1, "median_ms": 4, "max_rate": 9}) {
		t.Errorf("%+v", all)
	}
	if n := s.Count(Key{Subject: "a"}, func(f Figure) bool { return f.Mark == mark }); n != 3 {
		t.Errorf("%d measurements, want 3", n)
	}
	if f := s.Find(Key{Subject: "a", Threads: 2}); f != nil || f.Has("min_ms") {
		t.Errorf("%+v", f)
	}
	if err := os.WriteFile(path, []byte("{}\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+":2: ") {
		t.Error(err)
	}
}

// TestText: each mark is counted once, the oldest first.
func TestText(t *testing.T) {
	old, young := &Figure{Mark: Mark{Date: "2026-01-02", Commit: "0123456789ab", CPU: "one"}}, &Figure{Mark: Mark{Date: "2026-01-03", CPU: "two"}}
	const want = "Measured on 2026-01-02, commit 0123456789ab, one: 2 figures.\nMeasured on 2026-01-03, commit unknown, two: 1 figure."
	if got := Sources([]*Figure{young, old, old}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// repository makes a repository, and returns a function that commits a file.
func repository(t *testing.T) (commit func(file string) string) {
	t.Helper()
	run := need.Git(t)
	if m := Now(""); m.Commit != "" {
		t.Errorf("no repository, and commit %s", m.Commit)
	}
	run("init", "-q")
	if err := os.Mkdir("lower", 0o700); err != nil {
		t.Fatal(err)
	}
	return func(file string) string {
		write(t, file, file)
		run("add", ".")
		run("commit", "-qm", file)
		return run("rev-parse", "HEAD")[:commitDigits]
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNow: a mark has the commit of the working tree, and says if the code was changed since.
func TestNow(t *testing.T) {
	commit := repository(t)
	commit("lower/a")
	head := commit("page")
	write(t, "page", "2")
	if m := Now(""); m.Commit != head || m.Date == "" {
		t.Errorf("%+v, the commit is %s", m, head)
	}
	if m := Now("", "page"); m.Commit != head+"+" {
		t.Errorf("%+v, the commit is %s with changes", m, head)
	}
}

// TestStale: figures are counted by date and commit, and those whose code was changed since are found.
func TestStale(t *testing.T) {
	commit := repository(t)
	first := commit("lower/a")
	second := commit("lower/b")
	commit("page")
	s := New()
	s.path = "f"
	for i, m := range []Mark{{Date: "2026-01-02", Commit: first}, {Date: "2026-01-02", Commit: first, CPU: "d"}, {Date: "2026-01-03", Commit: second}, {Date: "2026-01-01"}} {
		s.add(Figure{Key: Key{Threads: i}, Mark: m})
	}
	var out strings.Builder
	old, err := s.Stale(&out)
	if err != nil || !old {
		t.Fatal(old, err)
	}
	want := fmt.Sprintf(`f: 1 of 4 figures of 2026-01-01, commit unknown: the code is unknown
f: 2 of 4 figures of 2026-01-02, commit %s: 1 commit since changed the code
f: 1 of 4 figures of 2026-01-03, commit %s: as new as the code
`, first, second)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	s = New(Figure{Mark: Mark{Date: "2026-01-03", Commit: second}})
	if old, err := s.Stale(&out, "page"); err != nil || !old {
		t.Error("code of the task's own is not looked at", err)
	}
}
