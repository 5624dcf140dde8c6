package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"ripc/internal/files"
)

// File is a file that records are appended to. Several processes may have it open; each record is one line, whole and synced
// to the disk before Append returns. It may be used by several goroutines.
type File struct {
	path string
	mu   sync.Mutex
	f    *os.File
}

// Open opens a file to append to, and makes it if it is not there. Nothing is written before the first Append.
func Open(path string) (*File, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, err
	}
	return &File{path: path, f: f}, nil
}

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
}

// Append adds r as the last line. It fails with *FieldError if r is no record; then, and if it cannot be written as a whole, the
// file stays as it was. What is torn at the file's end is cut off first.
func (f *File) Append(r Record) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.lock(); err != nil {
		return fmt.Errorf("cannot lock %s: %w", f.path, files.Cause(err))
	}
	err = appendLine(f.f, line)
	if e := unlock(f.f); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("cannot append to %s: %w", f.path, files.Cause(err))
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.f.Close()
}

// lock waits until no other process writes. Where another one has put a new file in its place (Rewrite), it goes on with that.
func (f *File) lock() error {
	for {
		if err := lock(f.f); err != nil {
			return err
		}
		here, err := f.f.Stat()
		if err != nil {
			return errors.Join(err, unlock(f.f))
		}
		if there, err := os.Stat(f.path); err == nil && os.SameFile(here, there) {
			return nil
		}
		next, err := openAppend(f.path)
		if err != nil {
			return errors.Join(err, unlock(f.f))
		}
		f.f.Close() // which unlocks it
		f.f = next
	}
}

// appendLine writes line behind the last whole one of f, which is locked.
func appendLine(f *os.File, line []byte) error {
	end, complete, err := mend(f)
	if err != nil {
		return err
	}
	if !complete {
		line = append([]byte("\n"), line...)
	}
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return f.Sync()
}

// mend cuts off what a writer left behind that was killed, and gives the file's size. A last line that is a record and lacks just
// its end stays: then it is not complete.
func mend(f *os.File) (size int64, complete bool, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return 0, false, err
	}
	begin, err := lastLine(f, size)
	if err != nil || begin == size {
		return size, true, err
	}
	if size-begin <= MaxLine {
		tail := make([]byte, size-begin)
		if _, err := f.ReadAt(tail, begin); err != nil {
			return 0, false, err
		}
		if _, _, err := parse(tail); err == nil {
			return size, false, nil
		}
	}
	return begin, true, f.Truncate(begin)
}

// lastLine is where what stands behind the last end of a line begins.
func lastLine(f *os.File, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		begin := max(0, end-int64(len(buf)))
		part := buf[:end-begin]
		if _, err := f.ReadAt(part, begin); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return begin + int64(i) + 1, nil
		}
		end = begin
	}
	return 0, nil
}

// Rewrite replaces the contents of a file by what change makes of it, at once or not at all. Tuners that have it open go on behind that.
func Rewrite(path string, change func(*Set) (*Set, error)) error {
	path, err := filepath.EvalSymlinks(path) // which fails if it is not there
	if err != nil {
		return err
	}
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.lock(); err != nil {
		return fmt.Errorf("cannot lock %s: %w", path, files.Cause(err))
	}
	old, err := Read(io.NewSectionReader(f.f, 0, 1<<62))
	if err != nil {
		return err
	}
	s, err := change(old)
	if err != nil {
		return err
	}
	return WriteFile(path, s)
}

// WriteFile makes path hold s, at once or not at all. Use Rewrite for a file that tuners may be appending to.
func WriteFile(path string, s *Set) error {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		return err
	}
	if err := replaceSynced(path, b.Bytes()); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, files.Cause(err))
	}
	return nil
}

// replaceSynced is files.Replace for what has to be on the disk before the old contents are gone.
func replaceSynced(path string, data []byte) error {
	dir := filepath.Dir(path)
	name := files.TempName(dir)
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(name) // fails once it has its final name
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
