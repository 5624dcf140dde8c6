package fit

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"

	"ripc/internal/stop"
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
func writeStore(t targets.Target, points []point) (err error) {
	defer stop.Catch(&err)
	stop.Check(os.MkdirAll(filepath.Dir(store(t)), 0o755))
	var text bytes.Buffer
	z := stop.Must(gzip.NewWriterLevel(&text, gzip.BestCompression))
	stop.Check(errors.Join(figures.WriteLines(z, points), z.Close()))
	return os.WriteFile(store(t), text.Bytes(), 0o644)
}
