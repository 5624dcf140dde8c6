package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ripc/schedule/machine"
	"ripc/targets"
)

// readLines reads the values of a file of JSON lines, which is compressed if its name says so. If there is no file, it makes its folder and
// returns none.
func readLines[T any](path string) (all []T, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
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
			return nil, fmt.Errorf("%s: %w: delete it to begin anew", path, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// writeLines writes values as JSON lines.
func writeLines[T any](w io.Writer, all []T) error {
	e := json.NewEncoder(w)
	for _, v := range all {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// appendLines appends values to a file of JSON lines, all or none.
func appendLines[T any](path string, all []T) error {
	var text bytes.Buffer
	if err := writeLines(&text, all); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// store returns the path of all points that were ever measured on t, for fits of other features.
func store(t targets.Target) string {
	return filepath.Join("examples", "costs", "points", machine.FileName(t)+".jsonl.gz")
}

// writeStore replaces the points of t's store.
func writeStore(t targets.Target, points []point) error {
	var text bytes.Buffer
	z, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(writeLines(z, points), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(store(t), text.Bytes(), 0o644)
}
