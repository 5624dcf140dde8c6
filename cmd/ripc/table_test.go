package main

import (
	"bytes"
	"testing"
)

// TestTableWidth: where a terminal is narrow, columns go in their order, and the table says which.
func TestTableWidth(t *testing.T) {
	tab := table{columns: []column{{"NAME", true, 0}, {"N", false, 2}, {"NOTHING", false, 0}, {"KERNEL", true, 1}}}
	tab.add("a", "100", "", "long_kernel")
	tab.add("bü", "2", "", "k")
	for width, want := range map[int]string{
		0:  "NAME    N  KERNEL\na     100  long_kernel\nbü      2  k\n",
		22: "NAME    N  KERNEL\na     100  long_kernel\nbü      2  k\n",
		21: "NAME    N\na     100\nbü      2\n\n(without KERNEL, for want of width: --wide shows all)\n",
		8:  "NAME\na\nbü\n\n(without KERNEL, N, for want of width: --wide shows all)\n",
		1:  "NAME\na\nbü\n\n(without KERNEL, N, for want of width: --wide shows all)\n",
	} {
		var b bytes.Buffer
		if err := tab.write(&b, width); err != nil || b.String() != want {
			t.Errorf("width %d:\n%s\nwant\n%s (%v)", width, b.String(), want, err)
		}
	}
}
