package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompareShowsUnifiedDiff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "want.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if msg := compare(path, []byte("one\ntwo\nthree\n")); msg != "" {
		t.Errorf("equal content: %s", msg)
	}
	msg := compare(path, []byte("one\n2\nthree\n"))
	for _, want := range []string{"--- " + path, "+++ got", "-two", "+2", " three"} {
		if !strings.Contains(msg, want) {
			t.Errorf("no %q in:\n%s", want, msg)
		}
	}
	if msg := compare(path+".none", []byte("new")); !strings.Contains(msg, "does not exist") || !strings.Contains(msg, "new") {
		t.Errorf("missing file: %s", msg)
	}
}

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "want.txt")
	err := update(path, []byte("x"), "true")
	if err == nil || !strings.Contains(err.Error(), "CI is set") {
		t.Errorf("under CI: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the refused update wrote the file")
	}
	if err := update(path, []byte("x"), ""); err != nil {
		t.Fatal(err)
	}
	if msg := compare(path, []byte("x")); msg != "" {
		t.Error(msg)
	}
}

// recorder is a testing.TB that keeps what Check reports.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "TestX/a+b" }
func (r *recorder) Errorf(format string, args ...any) {
	for _, a := range args {
		r.text += a.(string) + "\n"
	}
}

func TestCheckNamesTheCommand(t *testing.T) {
	if Updating() {
		t.Skip("-update accepts everything")
	}
	r := &recorder{TB: t}
	Check(r, filepath.Join(t.TempDir(), "none"), []byte("x"))
	if !strings.Contains(r.text, `^TestX$/^a\+b$`) {
		t.Errorf("no -run pattern in %q", r.text)
	}
	if !strings.Contains(r.text, "\n./internal/golden\n") {
		t.Errorf("the package is not named in %q", r.text)
	}
}
