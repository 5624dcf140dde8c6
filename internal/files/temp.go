package files

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// TempDir makes a folder that nobody else has, in parent or, if that is "", where the system has
// such. remove removes it. A process that is killed leaves it behind for SweepTemp.
func TempDir(parent string) (dir string, remove func() error, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	dir = filepath.Join(parent, fmt.Sprintf("ripc-tmp-%016x", rand.Uint64()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("temporary folder: %w (TMPDIR must name a writable folder)", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		_ = os.Remove(dir)
		return "", nil, fmt.Errorf("temporary folder: %w", err)
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// SweepTemp removes folders of TempDir in parent ("" as there) that killed processes left: nobody
// has them locked.
func SweepTemp(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	ours := regexp.MustCompile(`^ripc-tmp-[0-9a-f]{16}$`)
	for _, e := range entries {
		if !ours.MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		info, err := e.Info()
		// its process may be about to lock it
		if err != nil || !isOwn(info) || time.Since(info.ModTime()) < abandonedAfter {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if lock, err := lockDir(dir); err == nil {
			_ = os.RemoveAll(dir)
			lock.Close()
		}
	}
}
