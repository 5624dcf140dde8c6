package compile

import (
	"fmt"
	"math"

	"ripc/ir"
	"ripc/targets"
)

// checkAddresses fails with *ir.Error where p needs more memory at once than t's addresses reach.
// Half of 32 bits' range is left for programs, libraries and the kernel. The error names all parts,
// since any of them may be the one to make smaller.
func checkAddresses(p *ir.Program, t targets.Target) error {
	if t.PointerBits() != 32 {
		return nil
	}
	const limit = math.MaxInt32
	sum, largest, most := map[ir.BufKind]int64{ir.ArenaBuf: p.Arena}, "", int64(0)
	for _, b := range p.Buffers {
		n := int64(b.Bytes())
		if b.Kind != ir.ArenaBuf {
			sum[b.Kind] += n
		}
		if n > most {
			largest, most = b.Name, n
		}
	}
	if sum[ir.InputBuf]+sum[ir.OutputBuf]+sum[ir.ArenaBuf]+sum[ir.ConstBuf] <= limit {
		return nil
	}
	const mib = 1 << 20
	in := func(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/mib) }
	return &ir.Error{Msg: fmt.Sprintf("%s is too large for target %s, where all addresses of a process are within %s: "+
		"inputs take %s, outputs %s, activations %s, weights %s; the largest is %s with %s", p.Name, t.Name, in(limit),
		in(sum[ir.InputBuf]), in(sum[ir.OutputBuf]), in(sum[ir.ArenaBuf]), in(sum[ir.ConstBuf]), largest, in(most))}
}
