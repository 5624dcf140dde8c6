package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/tools"
)

// TestFindNode: a Node that is missing, too old or not Node is told from one that can be used, and how to get one.
func TestFindNode(t *testing.T) {
	for version, want := range map[string]string{"v20.0.0": "", "v124.1.0": "", "v18.20.4": "is v18.20.4", "hello": "is hello", "v20.0.0; exit 3": "fails: ", "": "not found"} {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		path := filepath.Join(dir, "node")
		if version != "" {
			if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+version+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		got, err := tools.FindNode("to test")
		if missing := (*tools.MissingError)(nil); want == "" && (err != nil || got != path) ||
			want != "" && (!errors.As(err, &missing) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "`PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install ")) {
			t.Errorf("%q: %s, %v", version, got, err)
		}
	}
}
