package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFind: without the right Python the reason names what was tried.
func TestFind(t *testing.T) {
	_, err := (&bench{python: "no-such-python"}).find(t.Context())
	if err == nil || !strings.Contains(err.Error(), "tried no-such-python") || !strings.Contains(err.Error(), pythonVersion) {
		t.Error(err)
	}
}

// TestStamp: every byte of the files counts, and where one ends and the next begins.
func TestStamp(t *testing.T) {
	dir := t.TempDir()
	of := func(texts ...string) string {
		var files []string
		for i, text := range texts {
			file := filepath.Join(dir, string(rune('a'+i)))
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		s, err := stamp(files...)
		if err != nil {
			t.Fatal(err)
		}
		return string(s)
	}
	if of("ab", "c") == of("a", "bc") {
		t.Error("stamps do not tell contents apart")
	}
	if _, err := stamp(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file has a stamp")
	}
}

// TestRequirements: every package of every environment has one version, and the programs are there.
func TestRequirements(t *testing.T) {
	for _, e := range environments() {
		data, err := os.ReadFile(filepath.Join("python", e.Requirements))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); !ok || name == "" || version == "" {
				t.Errorf("%s: %q names no version", e.Requirements, line)
			}
		}
		if _, err := os.Stat(filepath.Join("python", e.Models)); err != nil {
			t.Error(err)
		}
	}
}
