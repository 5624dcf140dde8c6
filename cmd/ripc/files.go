package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// writeFile makes path hold data, at once or not at all.
func writeFile(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".ripc-%016x", rand.Uint64()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode(path)) // the mode is masked by the system
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once it has its final name
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// fileMode is what the umask is applied to; shared libraries are executable by custom.
func fileMode(path string) os.FileMode {
	if filepath.Ext(path) == ".so" {
		return 0o777
	}
	return 0o666
}

// printJSON writes v as one indented JSON object.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("cannot print JSON: %w", err)
	}
	return nil
}

// size is n bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// thousands is a number of operations for people, "-" for none.
func thousands(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f k", float64(n)/1e3)
}
