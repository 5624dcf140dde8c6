package toolchain

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	tempPattern = ".new-*"      // files not renamed yet
	sweepMark   = ".swept"      // its time is that of the last sweep by any process
	sweepEvery  = 1 * time.Hour // between sweeps of processes that each write little
)

// stale reports whether nobody has swept the folder for a while.
func (c *Cache) stale() bool {
	info, err := os.Stat(filepath.Join(c.dir, sweepMark))
	return err != nil || time.Since(info.ModTime()) > sweepEvery
}

// entry is one file of the cache.
type entry struct {
	path string
	size int64
	used time.Time
}

// sweep deletes the entries that were not used for longest until the rest is below nine tenths of the limit, and
// temporary files that a killed process left. Files that vanish meanwhile are another process's doing.
func (c *Cache) sweep() error {
	mark := filepath.Join(c.dir, sweepMark)
	if err := os.WriteFile(mark, []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o666); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	var all []entry
	var total int64
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == sweepMark {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".new-") {
			if time.Since(info.ModTime()) > sweepEvery {
				os.Remove(path)
			}
			return nil
		}
		all = append(all, entry{path, info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	if err != nil {
		return fmt.Errorf("cache: %w", err)
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
