package main

import (
	"testing"

	"ripc/internal/golden"
)

// docs/primitives.md is what the doc comments say; go generate ./schedule brings it up to date.
func TestUpToDate(t *testing.T) {
	text, err := document("../..")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../docs/primitives.md", []byte(text))
}
