package pt2

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/importer/internal/readtest"
	"ripc/internal/golden"
)

// TestDocs compares the page's table with the table of operators.
func TestDocs(t *testing.T) {
	golden.CheckSection(t, "../../docs/import-pt2.md", "<!-- supported ops: begin -->", "<!-- supported ops: end -->", supported())
}

// supported is the list of docs/import-pt2.md: the operators that are read, by their limits.
func supported() string {
	var all []readtest.Operator
	for _, name := range slices.Sorted(maps.Keys(rows())) {
		all = append(all, readtest.Operator{Name: name, Limits: rows()[name].limits})
	}
	slices.SortStableFunc(all, func(a, b readtest.Operator) int { return strings.Compare(a.Limits, b.Limits) })
	return fmt.Sprintf("Schema %d, which PyTorch 2.9 writes as %d.%d. Later minor versions are read like this one, with a note at the input.\n\n",
		schemaMajor, schemaMajor, schemaMinor) + readtest.Table("operators of ATen", all) +
		"\nThe in-place forms, such as `relu_`, are read too. Each operator is also computed where all its operands are constants.\n"
}
