package task

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ripc/internal/section"
)

// Row returns a line of a table in Markdown.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// Head returns the header of a table in Markdown.
func Head(cells ...string) string { return Row(cells...) + strings.Repeat("|---", len(cells)) + "|\n" }

// mark begins the lines around a part of a page that is filled.
const mark = "<!-- numbers: "

// Fill puts texts into a page below root, each between the lines "<!-- numbers: NAME begin -->" and
// "<!-- numbers: NAME end -->". The page has no other such lines.
func Fill(root, page string, texts map[string]string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return "", err
	}
	text := string(data)
	for name, part := range texts {
		if text, err = section.Replace(text, mark+name+" begin -->", mark+name+" end -->", part); err != nil {
			return "", fmt.Errorf("%s: %w", page, err)
		}
	}
	if n := strings.Count(text, mark); n != 2*len(texts) {
		return "", fmt.Errorf("%s has %d marks of numbers, want %d", page, n, 2*len(texts))
	}
	return text, nil
}

// Format returns the text of v, "-" if v is 0: there is no such figure.
func Format(v float64, format string) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

// busyLoad is the load from which on a machine counts as busy.
const busyLoad = 0.5

// Busy warns of figures that were measured while the machine had other work, by the greatest load
// before them.
func Busy(load float64) string {
	if load < busyLoad {
		return ""
	}
	return fmt.Sprintf("**The machine was busy with other work** (load up to %.1f): times say little.\n\n", load)
}
