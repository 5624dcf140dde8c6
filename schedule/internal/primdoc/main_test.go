package main

import (
	"fmt"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// docs/primitives.md is what the doc comments say, and docs/schedule.md lists the steps; go generate ./schedule brings the first
// up to date, -update both.
func TestUpToDate(t *testing.T) {
	steps, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../docs/primitives.md", []byte(render(steps)))
	golden.CheckSection(t, "../../../docs/schedule.md", "<!-- steps: begin -->", "<!-- steps: end -->", usages(steps))
}

// usages is the table of docs/schedule.md.
func usages(steps []step) string {
	var b strings.Builder
	b.WriteString("| step | what it does |\n|---|---|\n")
	for _, s := range steps {
		fmt.Fprintf(&b, "| [`%s`](primitives.md#%s) | %s |\n", strings.ReplaceAll(s.usage, "|", `\|`), s.name, strings.ReplaceAll(firstSentence(s.doc), "|", `\|`))
	}
	return b.String()
}
