package records

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ripc/internal/files"
)

// File is a file that records are appended to. Several processes may have it open; each record is
// one line, whole and synced to the disk before Append returns. It may be used by several
// goroutines.
type File struct {
	path string
	wait time.Duration // for other processes
	mu   sync.Mutex
	f    *os.File
}

// LockedError says that another process has had a file for itself all the time.
type LockedError struct{ For time.Duration }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another process has had it locked for %v", e.For)
}

// Open opens a file to append to, and makes it if it is not there. It fails with *NotRecordsError
// if the file holds something else. Nothing is written before the first Append.
func Open(path string) (*File, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, err
	}
	if err := appendable(f); err != nil {
		f.Close()
		return nil, err
	}
	return &File{path: path, wait: lockTime, f: f}, nil
}

func openAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = files.ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// NotRecordsError says that a file holds something else than records. Such a file is never written
// to.
type NotRecordsError struct {
	Line int // the first that is no record, from 1
	// Kind describes the contents of a file that was to be read (files.Kind); "" of one that was to
	// be written to.
	Kind string
}

func (e *NotRecordsError) Error() string {
	if e.Kind != "" {
		return "it is " + e.Kind + ", no file of records, which ripc tune writes"
	}
	return fmt.Sprintf("line %d does not begin as a record does, so the file is left as it is; give a file of "+
		"records, or a new one", e.Line)
}

// BadInput reports that the input is at fault.
func (*NotRecordsError) BadInput() bool { return true }

// appendable fails with *NotRecordsError unless the first line of f that is not blank begins as a
// record does, and its last one if it is torn.
func appendable(f *os.File) error {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 64<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // which tail looks at
			break
		}
		if err != nil {
			return err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if !begins(text) {
				return &NotRecordsError{Line: n}
			}
			break
		}
	}
	_, _, _, err := tail(f)
	return err
}

// Append adds r as the last line. It fails with *FieldError if r is no record; then, and if it
// cannot be written as a whole, the file stays as it was. A torn record at the file's end is cut
// off first.
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

// lock waits until no other process writes, and fails with *LockedError if that takes too long.
// Where another one has put a new file in its place (Rewrite), it goes on with that.
func (f *File) lock() error {
	for {
		if err := lock(f.f, f.wait); err != nil {
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

// mend cuts off the record that a killed writer left behind torn, and gives the file's size. A last
// line that is a record and lacks just its end stays: then it is not complete. It fails with
// *NotRecordsError, and cuts nothing, if the last line is torn and does not begin as a record does.
func mend(f *os.File) (size int64, complete bool, err error) {
	begin, size, torn, err := tail(f)
	switch {
	case err != nil:
		return 0, false, err
	case begin == size:
		return size, true, nil
	case !torn:
		return size, false, nil
	}
	return begin, true, f.Truncate(begin)
}

// tail finds the last line if it has no end: where it begins, where the file ends, and whether it
// is a torn record. It fails with *NotRecordsError if it is neither a record nor the beginning of
// one.
func tail(f *os.File) (begin, size int64, torn bool, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return 0, 0, false, err
	}
	if begin, err = lastLine(f, size); err != nil || begin == size {
		return begin, size, false, err
	}
	text := make([]byte, min(size-begin, MaxLine))
	if _, err := f.ReadAt(text, begin); err != nil {
		return 0, 0, false, err
	}
	if size-begin <= MaxLine {
		if len(bytes.TrimSpace(text)) == 0 {
			return begin, size, false, nil
		}
		if _, _, err := parse(text); err == nil {
			return begin, size, false, nil
		}
	}
	if n := min(len(text), len(beginning)); string(text[:n]) != beginning[:n] {
		before, err := io.ReadAll(io.NewSectionReader(f, 0, begin))
		return 0, 0, false, cmp.Or(err, error(&NotRecordsError{Line: bytes.Count(before, []byte("\n")) + 1}))
	}
	return begin, size, true, nil
}

// lastLine returns the place behind the last end of a line.
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

// Rewrite replaces the contents of a file by the result of change, at once or not at all. Tuners
// that have it open go on behind that. It fails with *NotRecordsError if there are lines that do
// not begin as records do: they would be lost.
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
	if err == nil {
		err = old.replaceable()
	}
	if err != nil {
		return err
	}
	s, err := change(old)
	if err != nil {
		return err
	}
	return replaceSet(path, s)
}

// replaceable fails with *NotRecordsError if the file of s has a line that does not begin as a
// record does.
func (s *Set) replaceable() error {
	for _, d := range s.Damaged {
		if d.Stranger {
			return &NotRecordsError{Line: d.Line}
		}
	}
	return nil
}

// WriteFile makes path hold s, at once or not at all. Use Rewrite for a file that tuners may be
// appending to. It fails with *NotRecordsError if path is there and holds something else than
// records.
func WriteFile(path string, s *Set) error {
	_, err := load(path, func(old *Set, _ *os.File) error { return old.replaceable() })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &files.WriteError{Path: path, Err: err}
	}
	return replaceSet(path, s)
}

// replaceSet makes path hold s. The new data is on the disk before the old data is gone.
func replaceSet(path string, s *Set) error {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		return err
	}
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return files.ReplaceAll(files.New{Path: path, Data: b.Bytes(), Mode: mode, Sync: true})
}
