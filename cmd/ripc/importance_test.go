package main

import (
	"path/filepath"
	"testing"
)

// TestImportance: what is wrong with the arguments is said. tune.txt draws a picture.
func TestImportance(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{}, {none, "-o", "out.svg"}, {none}, {none, "-o", "out.svg", "--top", "0"}} {
		if code := realMain(append([]string{"records", "importance"}, args...)); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
