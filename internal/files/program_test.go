package files_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"ripc/internal/files"
)

// TestWriteProgram: programs that are written can be started at once, while others are started side by side.
func TestWriteProgram(t *testing.T) {
	dir := t.TempDir()
	program := []byte("#!/bin/sh\nexit 0\n")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				path := filepath.Join(dir, fmt.Sprint(i, "-", n))
				if err := files.WriteProgram(path, program); err != nil {
					t.Error(err)
					return
				}
				if out, err := exec.Command(path).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
					return
				}
			}
		})
	}
	all.Wait()
}
