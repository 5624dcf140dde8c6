package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// file is one of an archive: its path below the archive's folder.
type file struct {
	path    string
	mode    int64
	content []byte
}

// oldest is the time of all packed files: the oldest that tar and zip do not warn of.
func oldest() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// sorted returns files in the order of their paths. It fails if two have one path.
func sorted(files []file) ([]file, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
	for i, f := range files {
		if i > 0 && files[i-1].path == f.path {
			return nil, fmt.Errorf("two files are called %s", f.path)
		}
	}
	return files, nil
}

// archive is a compressed tar of the files below folder base, in the order of their paths; a path
// that ends in a slash is a folder. Nothing in it says when, where or by whom it was made.
func archive(base string, files []file) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	files, err := sorted(files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		h := &tar.Header{Name: base + "/" + f.path, Mode: f.mode, Size: int64(len(f.content)),
			ModTime: oldest(), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
