package emit

import (
	"ripc/ir"
	"ripc/ir/arith"
)

// fold evaluates op on two constant integers or bools. It returns false if the result is undefined.
func fold(op ir.BinOp, a, b val) (val, bool) {
	k, ok := arith.FoldInts(op, a.t, a.k, b.k).(*ir.IntImm)
	if !ok {
		return val{}, false
	}
	return imm(k.T, k.V), true
}
