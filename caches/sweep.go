package caches

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	tempPattern = ".new-*" // files not renamed yet
	sweepMark   = ".swept" // its time is that of the last sweep by any process
	keyDigits   = 64
	sweepEvery  = 1 * time.Hour // between sweeps of processes that each write little
)

// stale reports whether nobody has swept the folder for a while.
func (c *Cache) stale() bool {
	info, err := os.Stat(filepath.Join(c.dir, sweepMark))
	return err != nil || time.Since(info.ModTime()) > sweepEvery
}

// digits reports whether s is n hexadecimal digits, as Key writes them.
func digits(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" }

// entry is one file of the cache.
type entry struct {
	path string
	size int64
	used time.Time
}

// sweep deletes the least recently used entries until the rest is below nine tenths of the limit.
// It also deletes temporary files of killed processes. Files that vanish meanwhile were deleted by
// another process.
func (c *Cache) sweep() error {
	mark := filepath.Join(c.dir, sweepMark)
	if err := os.WriteFile(mark, []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o666); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	var all []entry
	var total int64
	// Only files that Put makes: the folder may hold other things, too.
	dirs, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	for _, d := range dirs {
		if !digits(d.Name(), 2) {
			continue
		}
		sub := filepath.Join(c.dir, d.Name())
		entries, err := os.ReadDir(sub)
		if err != nil {
			continue // another process's doing, or no folder
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			path := filepath.Join(sub, e.Name())
			rest, temporary := strings.CutPrefix(e.Name(), strings.TrimSuffix(tempPattern, "*"))
			switch {
			case temporary && strings.Trim(rest, "0123456789") == "" && time.Since(info.ModTime()) > sweepEvery:
				os.Remove(path)
			case digits(e.Name(), keyDigits-2):
				all = append(all, entry{path, info.Size(), info.ModTime()})
				total += info.Size()
			}
		}
	}
	if total <= c.limit {
		return nil
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, e := range all {
		if total <= c.limit/10*9 {
			break
		}
		if err := os.Remove(e.path); err == nil || os.IsNotExist(err) {
			total -= e.size
		}
	}
	return nil
}
