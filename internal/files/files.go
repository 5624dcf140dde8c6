// Package files wraps the file system: files that appear whole or not at all, reading with a limit,
// and causes without the path that a message names already.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// ErrNotRegular says that a path names something else than a file with content: a device, a pipe, a
// socket. Reading such may wait for ever, or never end.
var ErrNotRegular = errors.New("it is no regular file")

// ErrLFS says that a file is a pointer of Git LFS, and not the file itself.
var ErrLFS = errors.New("it is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`")

// lfsPrefix is the beginning of such a pointer.
const lfsPrefix = "version https://git-lfs.github.com/spec/"

// Open opens a regular file, or fails with ErrNotRegular or ErrLFS, or as os.Open does. It never
// waits.
func Open(path string) (*os.File, error) { return open(path, os.Stat, os.OpenFile) }

// OpenIn is Open of a file below a folder.
func OpenIn(root *os.Root, path string) (*os.File, error) {
	return open(path, root.Stat, root.OpenFile)
}

func open(path string, stat func(string) (fs.FileInfo, error),
	open func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	// Before it is opened: some devices do something when they are.
	if info, err := stat(path); err == nil { // an error is one that open puts into its own words
		if err := regular(path, info); err != nil {
			return nil, err
		}
	}
	// It may be another file by now. The opening of a pipe does not wait for its writer.
	f, err := open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	head := make([]byte, len(lfsPrefix))
	if n, _ := f.ReadAt(head, 0); string(head[:n]) == lfsPrefix {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLFS}
	}
	return f, nil
}

// regular fails with EISDIR or ErrNotRegular unless path, with file information info, has content.
func regular(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return nil
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

// ReadUpTo reads a file of at most limit bytes. Of a longer one it gives limit+1 bytes and no
// error.
func ReadUpTo(f fs.File, limit int) ([]byte, error) {
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(info.Size(), int64(limit))) + bytes.MinRead) // which lets ReadFrom see the end without growing
	}
	_, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1))
	return b.Bytes(), err
}
