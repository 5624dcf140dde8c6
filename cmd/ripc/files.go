package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ripc/internal/files"
)

// checkPlaces makes the folder of PREFIX.KIND and fails unless files can be made there, before
// anything is compiled. undo removes the new folders if they are empty. Prefix "" is the current
// folder.
func checkPlaces(prefix string, kinds []string) (undo func(), err error) {
	if last := prefix[max(0, len(prefix)-1):]; last == "/" || last == string(filepath.Separator) ||
		prefix != "" && slices.Contains([]string{".", ".."}, filepath.Base(prefix)) {
		return nil, usagef("--output %s names a folder; give the files' path without extension, e.g. %s", prefix,
			filepath.Join(prefix, "net"))
	}
	if info, err := os.Stat(prefix); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, usagef("--output %s names a device; it is the files' path without extension, or - for standard "+
			"output", prefix)
	}
	first := "files here"
	var names []string
	for _, k := range kinds {
		names = append(names, prefix+"."+k)
	}
	if prefix != "" {
		first = append(names, prefix)[0]
	}
	return makePlaces(first, names)
}

// makePlaces makes the folder of files, which share one, and fails unless files can be made there.
// first is the name in errors.
func makePlaces(first string, names []string) (undo func(), err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return nil, &files.WriteError{Path: name, Err: errors.New("a folder has this name")}
		}
	}
	dir := filepath.Dir(append(names, first)[0])
	var made []string // innermost first
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	undo = func() {
		for _, d := range made {
			_ = os.Remove(d) // fails where files are
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		undo()
		return nil, &files.WriteError{Path: first, Err: err}
	}
	f, err := os.OpenFile(files.TempName(dir), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		undo()
		return nil, &files.WriteError{Path: first, Err: err}
	}
	f.Close()
	os.Remove(f.Name())
	if len(made) > 0 {
		fmt.Fprintf(stderr(), "making folder %s\n", dir)
	}
	return undo, nil
}

// printJSON writes v as one indented JSON object.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(jsonWriter(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("cannot print JSON: %w", err)
	}
	return nil
}

// countText formats a number of operations, 0 as "-".
func countText(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1e3:
		return fmt.Sprint(n)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f k", float64(n)/1e3)
}
