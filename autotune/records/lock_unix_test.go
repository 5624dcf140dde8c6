//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package records_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ripc/autotune/records"
)

// TestLocked: a process that keeps the lock is waited for a while, and said to be there.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	f, err := records.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	f.SetWait(50 * time.Millisecond)
	var locked *records.LockedError
	if err := f.Append(sample(0, 1)); !errors.As(err, &locked) || !strings.Contains(err.Error(), "locked for 50ms") {
		t.Error(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { other.Close() })
	f.SetWait(time.Minute)
	if err := f.Append(sample(0, 1)); err != nil {
		t.Error(err)
	}
}
