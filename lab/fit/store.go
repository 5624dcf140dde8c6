package fit

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"

	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/schedule/machine"
	"ripc/targets"
)

// store returns the path of all points that were ever measured on t, for fits of other features.
func store(t targets.Target) string {
	return filepath.Join(task.Data, "points", machine.FileName(t)+".jsonl.gz")
}

// writeStore replaces the points of t's store.
func writeStore(t targets.Target, points []point) error {
	if err := os.MkdirAll(filepath.Dir(store(t)), 0o755); err != nil {
		return err
	}
	var text bytes.Buffer
	z, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(figures.WriteLines(z, points), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(store(t), text.Bytes(), 0o644)
}
