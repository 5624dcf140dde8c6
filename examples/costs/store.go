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

// readLines reads the values of a file of JSON lines. If there is no file, it makes its folder and returns none.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeLines[T](path, f)
}

// decodeLines reads JSON values. path names their file in errors.
func decodeLines[T any](path string, r io.Reader) ([]T, error) {
	var all []T
	for d := json.NewDecoder(bufio.NewReader(r)); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w: delete it to begin anew", path, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// appendLines appends values to a file of JSON lines, all or none.
func appendLines[T any](path string, all []T) error {
	var text []byte
	for _, v := range all {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// store returns the path of all points that were ever measured on t, for fits of other features.
func store(t targets.Target) string {
	return filepath.Join("examples", "costs", "points", machine.FileName(t)+".jsonl.gz")
}

// readStore reads the points of t's store. If there is no store, it returns none.
func readStore(t targets.Target) ([]point, error) {
	f, err := os.Open(store(t))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", store(t), err)
	}
	return decodeLines[point](store(t), z)
}

// writeStore replaces the points of t's store.
func writeStore(t targets.Target, points []point) error {
	var text bytes.Buffer
	z, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	for _, p := range points {
		if err := e.Encode(p); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(store(t)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(store(t), text.Bytes(), 0o644)
}
