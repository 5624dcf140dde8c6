package pt2

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestDocs compares the page's table with the table of operators.
func TestDocs(t *testing.T) {
	golden.CheckSection(t, "../../docs/import-pt2.md", "<!-- supported ops: begin -->", "<!-- supported ops: end -->", supported())
}

// supported is the list of docs/import-pt2.md: the operators that are read, by their limits.
func supported() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Schema %d, which PyTorch 2.9 writes as %d.%d. Later minor versions are read like this one, with a note at the input.\n\n"+
		"| operators of ATen | as far as |\n|---|---|\n", schemaMajor, schemaMajor, schemaMinor)
	byLimits := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(rows())) {
		byLimits[rows()[name].limits] = append(byLimits[rows()[name].limits], name)
	}
	for _, limits := range slices.Sorted(maps.Keys(byLimits)) { // "" is the first
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(byLimits[limits], ", "), cmp.Or(limits, "all of it"))
	}
	b.WriteString("\nThe in-place forms, such as `relu_`, are read too. Each operator is also computed where all its operands are constants.\n")
	return b.String()
}
