package main

import (
	"path/filepath"
	"testing"

	"ripc/internal/golden"
	"ripc/lab/figures"
)

// TestPages: the pages have the figures of lab/data. -update fills them, as --page does.
func TestPages(t *testing.T) {
	root := ".."
	for _, k := range tasks() {
		if !k.Committed() {
			continue
		}
		s, err := figures.Open(filepath.Join(root, k.File()))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Latest()) == 0 {
			t.Errorf("%s has no figures", k.Name)
		}
		pages, err := k.Pages(root, s)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		for page, text := range pages {
			golden.Check(t, page, []byte(text))
		}
	}
}

// TestMarks: each figure says when and where it was measured, and of which code.
func TestMarks(t *testing.T) {
	for _, k := range tasks() {
		if !k.Committed() {
			continue
		}
		s, err := figures.Open(filepath.Join("..", k.File()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Latest() {
			if f.Task != k.Name || f.Date == "" || f.Commit == "" || f.CPU == "" {
				t.Errorf("%s: %+v", k.Name, f)
			}
		}
	}
}
