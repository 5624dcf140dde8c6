package lce

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/importer/internal/readtest"
	"ripc/internal/golden"
)

// TestDocs compares the page's table with what the code supports.
func TestDocs(t *testing.T) {
	ops := handlers()
	var all []readtest.Operator
	for _, custom := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(ops)) {
			if h := ops[name]; h.custom == custom {
				all = append(all, readtest.Operator{Name: name, Limits: h.limits})
			}
		}
	}
	golden.CheckSection(t, "../../docs/import-larq.md", "<!-- supported operators: begin -->", "<!-- supported operators: end -->", readtest.Table("operators", all))
}

// TestNames: every supported builtin operator is one of the schema.
func TestNames(t *testing.T) {
	known := strings.Fields(builtinNames)
	if len(known) != 162 || builtinName(3) != "CONV_2D" || builtinName(114) != "QUANTIZE" || builtinName(999) != "builtin operator 999" {
		t.Errorf("%d names", len(known))
	}
	for name, h := range handlers() {
		if !h.custom && !slices.Contains(known, name) {
			t.Errorf("%s is no builtin operator", name)
		}
	}
}
