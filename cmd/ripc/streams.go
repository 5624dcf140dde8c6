package main

import (
	"io"
	"os"

	"ripc/internal/terminal"
)

// stderr returns standard error for messages. Text of files, other machines and programs cannot
// steer the terminal.
func stderr() io.Writer { return terminal.NewWriter(os.Stderr) }

// jsonWriter returns the writer for JSON to standard output w. It keeps all values.
func jsonWriter(w io.Writer) io.Writer { return terminal.NewJSONWriter(terminal.Destination(w)) }

// rawWriter returns the unfiltered writer to standard output w, for files and protocols.
func rawWriter(w io.Writer) io.Writer { return terminal.Destination(w) }

// printableText returns untrusted text, made safe within a line.
func printableText(text string) string { return terminal.Clean(text) }
