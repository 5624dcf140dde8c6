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
