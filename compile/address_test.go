package compile

import (
	"errors"
	"testing"

	"ripc/ir"
	"ripc/targets"
)

// TestAddressable: networks of several GiB are for machines of 64 bits only, and the error names what is large.
func TestAddressable(t *testing.T) {
	buffer := func(name string, k ir.BufKind, mib int) ir.ProgBuf {
		return ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.F32, Shape: []int{mib, 1 << 18}}, Kind: k}
	}
	for _, c := range []struct {
		name    string
		arena   int64
		buffers []ir.ProgBuf
		want    string
	}{
		{"fits", 64 << 20, []ir.ProgBuf{buffer("x", ir.InputBuf, 1024), buffer("y", ir.OutputBuf, 512)}, ""},
		{"inputs", 0, []ir.ProgBuf{buffer("x", ir.InputBuf, 1024), buffer("z", ir.InputBuf, 64<<10), buffer("y", ir.OutputBuf, 1)},
			"inputs is too large for target rpi2, where all addresses of a process are within 2048 MiB: inputs take 66560 MiB, outputs 1 MiB, activations 0 MiB, weights 0 MiB; the largest is z with 65536 MiB"},
		{"sum", 1 << 30, []ir.ProgBuf{buffer("x", ir.InputBuf, 512), buffer("w", ir.ConstBuf, 600)},
			"sum is too large for target rpi2, where all addresses of a process are within 2048 MiB: inputs take 512 MiB, outputs 0 MiB, activations 1024 MiB, weights 600 MiB; the largest is w with 600 MiB"},
	} {
		for _, name := range []string{"rpi2", "rpi3"} {
			target, err := targets.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			err = checkAddresses(&ir.Program{Name: c.name, Arena: c.arena, Buffers: c.buffers}, target)
			switch large := (*ir.Error)(nil); {
			case name == "rpi3" || c.want == "":
				if err != nil {
					t.Errorf("%s on %s: %v", c.name, name, err)
				}
			case !errors.As(err, &large) || err.Error() != c.want:
				t.Errorf("%s on %s: %v\nwant %s", c.name, name, err, c.want)
			}
		}
	}
}
