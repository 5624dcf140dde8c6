package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestDocs compares the page's table with the table of ops.
func TestDocs(t *testing.T) {
	golden.CheckSection(t, "../../docs/import-onnx.md", "<!-- supported ops: begin -->", "<!-- supported ops: end -->", supported())
}

// supported is the table of docs/import-onnx.md: every op that is read, what it becomes in the graph, and what of it is
// not supported.
func supported() string {
	ops := table()
	var b strings.Builder
	fmt.Fprintf(&b, "Opsets %d to %d of the standard's operators, and QONNX's under the domains `qonnx.custom_op.general`, `onnx.brevitas` and `finn.custom_op.general`.\n\n",
		firstOpset, lastOpset)
	b.WriteString("| op | becomes | as far as |\n|---|---|---|\n")
	var constants []string
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		o := ops[name]
		if o.lower == nil {
			constants = append(constants, name)
			continue
		}
		shown := name
		if o.qonnx {
			shown += " (QONNX)"
		}
		limits := o.limits
		if limits == "" {
			limits = "all of it"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", shown, o.becomes, limits)
	}
	fmt.Fprintf(&b, "\nOn constants only, where exporters compute shapes and weights with them: %s. Of the ops above, those with constant operands alone are computed too.\n",
		strings.Join(constants, ", "))
	return b.String()
}
