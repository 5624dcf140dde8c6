package figures

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ripc/internal/stop"
)

// ReadLines reads the values of a file of JSON lines, which is compressed if its name says so. A
// file that is not there has none.
func ReadLines[T any](path string) (all []T, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	in := io.Reader(bufio.NewReader(f))
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for d := json.NewDecoder(in); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: remove the line", path, len(all)+1, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// WriteLines writes values as JSON lines.
func WriteLines[T any](w io.Writer, all []T) error {
	e := json.NewEncoder(w)
	for _, v := range all {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// AppendLines appends values to a file of JSON lines, all or none.
func AppendLines[T any](path string, all []T) (err error) {
	defer stop.Catch(&err)
	var text bytes.Buffer
	stop.Check(WriteLines(&text, all))
	stop.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	f := stop.Must(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}
