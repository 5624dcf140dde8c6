package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ripc/importer/internal/readtest"
	"ripc/internal/golden"
)

// TestDocs compares the page's table with the table of ops.
func TestDocs(t *testing.T) {
	golden.CheckSection(t, "../../../docs/import-onnx.md", "<!-- supported ops: begin -->", "<!-- supported ops: end -->", supported())
}

// supported is the list of docs/import-onnx.md: every op that is read, by the part of it that is supported.
func supported() string {
	ops := table()
	var b strings.Builder
	fmt.Fprintf(&b, "Opsets %d to %d of the standard's operators; later ones are read as the last of these, with a note at the input. QONNX's have the domains `qonnx.custom_op.general`, `onnx.brevitas` and `finn.custom_op.general`, "+
		"or none; those on channels-last images `qonnx.custom_op.channels_last`; those of onnxruntime `com.microsoft`.\n\n", firstOpset, lastOpset)
	var constants []string
	var all []readtest.Operator
	for _, k := range slices.SortedFunc(maps.Keys(ops), key.compare) {
		o := ops[k]
		if !o.computes() {
			constants = append(constants, k.name)
			continue
		}
		name := k.name + map[family]string{qonnx: " (QONNX)", channelsLast: " (QONNX, channels last)", microsoft: " (com.microsoft)"}[k.family]
		all = append(all, readtest.Operator{Name: name, Limits: o.limits})
	}
	b.WriteString(readtest.Table("operators", all))
	fmt.Fprintf(&b, "\nOn constants only: %s. Each op above is also computed where all its operands are constants.\n", strings.Join(constants, ", "))
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
