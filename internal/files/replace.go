package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// New is a file that is to be: data at a path.
type New struct {
	Path string
	Data []byte
	Mode fs.FileMode // to which the system's umask is applied
	Sync bool        // the data is on the disk before the old data is gone, and its name before ReplaceAll returns
}

// WriteError says that a file could not be written.
type WriteError struct {
	Path string
	Err  error
}

// Error names the file that was meant, and no temporary one.
func (e *WriteError) Error() string { return fmt.Sprintf("cannot write %s: %v", e.Path, Cause(e.Err)) }

// Unwrap is the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Replace makes path hold data, at once or not at all. It fails with *WriteError.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return ReplaceAll(New{Path: path, Data: data, Mode: mode})
}

// ReplaceAll makes all paths hold their data, or none. Everything is written under other names first, beside where it belongs, and
// renamed at the end; when that fails, what has been replaced comes back. Only a process that is killed among the renames leaves new
// files beside old ones. It fails with *WriteError.
func ReplaceAll(list ...New) error {
	steps := make([]step, len(list))
	defer func() {
		for _, s := range steps {
			s.clean()
		}
	}()
	swept := map[string]bool{}
	for i, n := range list {
		dir := filepath.Dir(n.Path)
		if !swept[dir] {
			swept[dir] = true
			sweep(dir)
		}
		if err := steps[i].write(n); err != nil {
			return &WriteError{n.Path, err}
		}
	}
	for i, n := range list {
		if err := steps[i].rename(n.Path); err != nil {
			for k := range i {
				steps[k].undo(list[k].Path)
			}
			return &WriteError{n.Path, err}
		}
		if n.Sync {
			if err := syncFolder(filepath.Dir(n.Path)); err != nil {
				return &WriteError{n.Path, err}
			}
		}
	}
	return nil
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// step is one file of ReplaceAll: where its new and its old content lie meanwhile.
type step struct {
	fresh, old string // "" where there is none
	first      bool   // the path was free
}

// write writes n beside its place. A device or a pipe keeps its place.
func (s *step) write(n New) error {
	if info, err := os.Stat(n.Path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	name := TempName(filepath.Dir(n.Path))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, n.Mode)
	if err != nil {
		return err
	}
	s.fresh = name
	if _, err = f.Write(n.Data); err == nil && n.Sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// rename brings the new content to path, and keeps the old one.
func (s *step) rename(path string) error {
	if old := TempName(filepath.Dir(path)); os.Link(path, old) == nil {
		s.old = old
	} else if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		s.first = true
	}
	if err := os.Rename(s.fresh, path); err != nil {
		return err
	}
	s.fresh = ""
	return nil
}

// undo brings the old content back to path. Where the file system has no links there is none, and the new one stays.
func (s *step) undo(path string) {
	switch {
	case s.first:
		_ = os.Remove(path)
	case s.old != "" && os.Rename(s.old, path) == nil:
		s.old = ""
	}
}

// clean removes what is left under other names.
func (s *step) clean() {
	for _, name := range []string{s.fresh, s.old} {
		if name != "" {
			_ = os.Remove(name)
		}
	}
}

// abandonedAfter is how old a temporary file is when its process certainly does not write it any more.
const abandonedAfter = time.Hour

// TempName is a new name in dir, for a file that gets another name when it is complete.
func TempName(dir string) string {
	return filepath.Join(dir, fmt.Sprintf(".ripc-%016x", rand.Uint64()))
}

// sweep removes what killed processes left in dir under names that TempName makes.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	ours := regexp.MustCompile(`^\.ripc-[0-9a-f]{16}$`)
	for _, e := range entries {
		if !ours.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
