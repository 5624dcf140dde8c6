package verify

import (
	"bytes"
	"fmt"

	"ripc/internal/constants"
	"ripc/ir"
	"ripc/runtime/describe"
)

// constant is a constant that a stage reads, at an offset in the artifact's block.
type constant struct {
	stage  int
	buf    *ir.ProgBuf
	offset int64
}

// compareConstants compares the constants in the file with the Program's, byte for byte, and gives
// the differences by stage. Running the code cannot do that: a bit of a weight seldom shows in the
// result for one input. d must match p.
func compareConstants(path string, d *describe.Artifact, p *ir.Program) ([][]Difference, error) {
	all := make([][]Difference, len(p.Stages))
	var list []constant
	for i, s := range d.Stages {
		seen := map[string]bool{}
		for _, t := range s.Reads {
			b := p.BufferByName(t.Name)
			if t.Where != ir.ConstBuf.String() || b == nil || b.Kind != ir.ConstBuf || seen[t.Name] {
				continue
			}
			seen[t.Name] = true
			if t.Offset < 0 || t.Offset > d.WeightBytes-int64(b.Bytes()) {
				return nil, &MismatchError{path, fmt.Sprintf("%%%s of stage %q is at %d of %d bytes of constants",
					t.Name, s.Name, t.Offset, d.WeightBytes)}
			}
			list = append(list, constant{i, b, t.Offset})
		}
	}
	if len(list) == 0 {
		return all, nil
	}
	block, err := constants.Read(path, d.WeightBytes,
		func(block []byte, limit int) int { return countDifferences(block, list, limit) })
	if err != nil {
		return nil, fmt.Errorf("%s: reading the constants: %w", path, err)
	}
	if block == nil {
		return nil, &MismatchError{path, fmt.Sprintf("it has no block of constants of %d bytes", d.WeightBytes)}
	}
	for _, c := range list {
		if diff, ok := compare(c.buf.Buffer, block[c.offset:c.offset+int64(c.buf.Bytes())], c.buf.Data, true); !ok {
			all[c.stage] = append(all[c.stage], diff)
		}
	}
	return all, nil
}

// countDifferences counts the bytes in which block differs from list; it may stop at limit, if that
// is not negative.
func countDifferences(block []byte, list []constant, limit int) int {
	n := 0
	for _, c := range list {
		got := block[c.offset : c.offset+int64(c.buf.Bytes())]
		if bytes.Equal(got, c.buf.Data) {
			continue
		}
		for i, x := range c.buf.Data {
			if got[i] != x {
				n++
			}
		}
		if limit >= 0 && n >= limit {
			return n
		}
	}
	return n
}
