package onnx

import (
	"cmp"
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
	fmt.Fprintf(&b, "Opsets %d to %d of the standard's operators; later ones are read as the last of these, which a note at the input says. QONNX's are found under the domains `qonnx.custom_op.general`, `onnx.brevitas` and `finn.custom_op.general`, "+
		"and without a domain; those on channels-last images under `qonnx.custom_op.channels_last`, and those of onnxruntime under `com.microsoft`.\n\n", firstOpset, lastOpset)
	b.WriteString("| op | becomes | as far as |\n|---|---|---|\n")
	var constants []string
	for _, k := range slices.SortedFunc(maps.Keys(ops), key.compare) {
		o := ops[k]
		if !o.computes() {
			constants = append(constants, k.name)
			continue
		}
		shown := k.name + map[family]string{qonnx: " (QONNX)", channelsLast: " (QONNX, channels last)", microsoft: " (com.microsoft)"}[k.family]
		limits := o.limits
		if limits == "" {
			limits = "all of it"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", shown, o.becomes, limits)
	}
	fmt.Fprintf(&b, "\nOn constants only, where exporters compute shapes and weights with them: %s. Each op above is computed, too, where all its operands are constants: by the graph that it would become in a network.\n",
		strings.Join(constants, ", "))
	return b.String()
}

// compare orders ops by name, then by family.
func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.name, o.name), cmp.Compare(k.family, o.family))
}

// domainOf is a domain under which a family's ops are found.
func domainOf(f family) string {
	return []string{standard: "", qonnx: "qonnx.custom_op.general", channelsLast: "qonnx.custom_op.channels_last", microsoft: "com.microsoft"}[f]
}
