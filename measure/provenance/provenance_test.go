package provenance

import (
	"encoding/json"
	"os"
	"testing"

	"ripc/internal/need"
)

// TestText: each mark is counted once, the oldest first.
func TestText(t *testing.T) {
	old, young := Mark{Date: "2026-01-02", Commit: "0123456789ab", CPU: "one"}, Mark{Date: "2026-01-03", CPU: "two"}
	const want = "Measured on 2026-01-02, commit 0123456789ab, one: 2 figures.\nMeasured on 2026-01-03, commit unknown, two: 1 figure."
	if got := Text([]Mark{young, old, old}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFields: the fields of a mark stand beside those of a figure that embeds it.
func TestFields(t *testing.T) {
	data, err := json.Marshal(struct {
		Cost float64 `json:"cost"`
		Mark
	}{1, Mark{Date: "2026-01-02", Commit: "c", CPU: "one"}})
	if want := `{"cost":1,"date":"2026-01-02","commit":"c","cpu":"one"}`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}

// TestNow: a mark has the commit of the working tree, and says if the code was changed since.
func TestNow(t *testing.T) {
	run := need.Git(t)
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m := Now(); m.Commit != "" {
		t.Errorf("no repository, and commit %s", m.Commit)
	}
	run("init", "-q")
	if err := os.Mkdir("lower", 0o700); err != nil {
		t.Fatal(err)
	}
	write("lower/a", "1")
	write("page", "1")
	run("add", ".")
	run("commit", "-qm", "first")
	head := run("rev-parse", "HEAD")[:commitDigits]
	write("page", "2")
	if m := Now(); m.Commit != head || m.Date == "" || len(m.Code) > 0 {
		t.Errorf("%+v, the commit is %s", m, head)
	}
	write("lower/a", "2")
	if m := Now("bench"); m.Commit != head+"+" || len(m.Code) != len(Compiler())+1 {
		t.Errorf("%+v, the commit is %s with changes", m, head)
	}
}
