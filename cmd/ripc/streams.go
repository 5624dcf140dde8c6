package main

import (
	"io"
	"os"

	"ripc/internal/terminal"
)

// stderr is standard error for messages. Text of files, of other machines and of programs may be among them, which a terminal must
// not obey.
func stderr() io.Writer { return terminal.NewWriter(os.Stderr) }

// jsonWriter is the writer for JSON in the place of w, a command's standard output: values stay the same.
func jsonWriter(w io.Writer) io.Writer { return terminal.NewJSONWriter(terminal.Below(w)) }

// rawWriter is the writer in the place of w, a command's standard output, for what is no message: a file's content, a protocol.
func rawWriter(w io.Writer) io.Writer { return terminal.Below(w) }

// printableText is text of others as it may be shown within a line.
func printableText(text string) string { return terminal.Clean(text) }
