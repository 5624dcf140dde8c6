//go:build unix

package onnx

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExternalPipe: a pipe in the model's folder is refused, not waited for.
func TestExternalPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "w.bin"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := folder(dir)("w.bin", 0, 8)
		got <- err
	}()
	select {
	case err := <-got:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("a pipe as external data: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("reading a pipe as external data does not end")
	}
}
