package lce

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestDocs compares the page's table with what the code supports.
func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("| operators | as far as |\n|---|---|\n")
	ops := handlers()
	var order []string
	by := map[string][]string{}
	for _, custom := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(ops)) {
			if h := ops[name]; h.custom == custom {
				limits := cmp.Or(h.limits, "all of it")
				if by[limits] == nil {
					order = append(order, limits)
				}
				by[limits] = append(by[limits], name)
			}
		}
	}
	for _, limits := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(by[limits], ", "), limits)
	}
	golden.CheckSection(t, "../../docs/import-larq.md", "<!-- supported operators: begin -->", "<!-- supported operators: end -->", b.String())
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
