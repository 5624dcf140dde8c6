// Package files has what several packages need of the file system: files that appear whole or not at all, reading with a
// limit, and causes without the path that a message names already.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Cause drops the paths from an error of the file system, for messages that have them already.
func Cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return err
}

// ErrNotRegular says that a path names something else than a file with content: a device, a pipe, a socket. Reading such may
// wait for ever, or never end.
var ErrNotRegular = errors.New("it is no regular file")

// Open opens a regular file, or fails with ErrNotRegular, or as os.Open does.
func Open(path string) (*os.File, error) {
	// Before it is opened: the opening of a pipe waits for its writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		err := ErrNotRegular
		if info.IsDir() {
			err = syscall.EISDIR
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.Open(path)
}

// MaxText bounds texts that people write, such as schedules, in bytes.
const MaxText = 64 << 20

// ReadText reads a regular file of at most MaxText bytes.
func ReadText(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := ReadUpTo(f, MaxText)
	if err == nil && len(text) > MaxText {
		err = fmt.Errorf("it is longer than %d bytes", MaxText)
	}
	return text, err
}

// ReadUpTo reads a file of at most limit bytes. Of a longer one it gives limit+1 bytes and no error.
func ReadUpTo(f fs.File, limit int) ([]byte, error) {
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(info.Size(), int64(limit))) + bytes.MinRead) // which lets ReadFrom see the end without growing
	}
	_, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1))
	return b.Bytes(), err
}

// ErrLFS says that a file holds a pointer of Git LFS, and not what it points to.
var ErrLFS = errors.New("is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`")

// LFSPrefix is what such a pointer begins with.
const LFSPrefix = "version https://git-lfs.github.com/spec/"

// CheckLFS is ErrLFS for content that begins as a pointer.
func CheckLFS(content []byte) error {
	if bytes.HasPrefix(content, []byte(LFSPrefix)) {
		return ErrLFS
	}
	return nil
}

// TempName is a new name in dir, for a file that gets another name when it is complete.
func TempName(dir string) string {
	return filepath.Join(dir, fmt.Sprintf(".ripc-%016x", rand.Uint64()))
}

// Replace makes path hold data, at once or not at all. The system's umask is applied to mode. Errors may name the
// temporary file: see Cause.
func Replace(path string, data []byte, mode fs.FileMode) error {
	name := TempName(filepath.Dir(path))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(name) // fails once it has its final name
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(name, path)
}
