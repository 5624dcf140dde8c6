package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"ripc/internal/need"
)

// TestList: figures are counted by date and commit, and those whose code was changed since are found.
func TestList(t *testing.T) {
	run := need.Git(t)
	commit := func(file string) string {
		if err := os.WriteFile(file, []byte(file+run("rev-parse", "--git-dir")), 0o600); err != nil {
			t.Fatal(err)
		}
		run("add", ".")
		run("commit", "-qm", file)
		return run("rev-parse", "HEAD")[:12]
	}
	run("init", "-q")
	if err := os.Mkdir("lower", 0o700); err != nil {
		t.Fatal(err)
	}
	first := commit("lower/a")
	second := commit("lower/b")
	commit("page")
	text := fmt.Sprintf(`{"figures": [{"date": "2026-01-02", "commit": %q, "cpu": "c"}, {"date": "2026-01-02", "commit": %[1]q, "cpu": "d"},
		{"one": {"date": "2026-01-03", "commit": %q, "cpu": "c"}}, {"date": "2026-01-01", "commit": "", "cpu": "c"},
		{"date": "2026-01-04", "commit": %[2]q, "cpu": "c", "code": ["other"]}]}`, first, second)
	if err := os.WriteFile("f.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	old, err := list(&out, []string{"f.json"})
	if err != nil || !old {
		t.Fatal(old, err)
	}
	want := fmt.Sprintf(`f.json: 1 of 5 figures of 2026-01-01, commit unknown: the code is unknown
f.json: 2 of 5 figures of 2026-01-02, commit %s: 1 commit since changed the code
f.json: 1 of 5 figures of 2026-01-03, commit %s: as new as the code
f.json: 1 of 5 figures of 2026-01-04, commit %[2]s: as new as the code
`, first, second)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestDocuments: each figure of the documents says when and where it was measured, and of which code.
func TestDocuments(t *testing.T) {
	files, err := documents("../..")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "docs/twin.json") { // accuracies by seed, of PyTorch and not of ripc's code
			continue
		}
		marks, err := marksOf(file)
		if err != nil {
			t.Error(err)
		}
		if len(marks) == 0 {
			t.Errorf("%s: no figure says where it is from", file)
		}
		for _, m := range marks {
			if m.Date == "" || m.Commit == "" || m.CPU == "" {
				t.Errorf("%s: %+v", file, m)
				break
			}
		}
	}
}
