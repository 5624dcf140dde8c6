package compile

import (
	"fmt"
	"math"

	"ripc/ir"
	"ripc/targets"
)

// AddressError says that a network needs more memory than a process of the target can have.
type AddressError struct {
	Network, Target string
	Limit           int64 // bytes that are possible
	// Bytes of all inputs, all outputs, of activations and of weights.
	Inputs, Outputs, Activations, Weights int64
	Largest                               string // the buffer that takes most
	LargestBytes                          int64
}

// Error gives all parts, since any of them may be the one to make smaller.
func (e *AddressError) Error() string {
	const mib = 1 << 20
	in := func(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/mib) }
	return fmt.Sprintf("%s is too large for target %s, where all addresses of a process are within %s: inputs take "+
		"%s, outputs %s, activations %s, weights %s; the largest is %s with %s",
		e.Network, e.Target, in(e.Limit), in(e.Inputs), in(e.Outputs), in(e.Activations), in(e.Weights), e.Largest,
		in(e.LargestBytes))
}

// BadInput reports that the input is at fault.
func (*AddressError) BadInput() bool { return true }

// checkAddresses fails with *AddressError where p needs more memory at once than t's addresses
// reach. Half of 32 bits' range is left for programs, libraries and the kernel.
func checkAddresses(p *ir.Program, t targets.Target) error {
	if t.PointerBits() != 32 {
		return nil
	}
	e := &AddressError{Network: p.Name, Target: t.Name, Limit: math.MaxInt32, Activations: p.Arena}
	for _, b := range p.Buffers {
		n := int64(b.Bytes())
		switch b.Kind {
		case ir.InputBuf:
			e.Inputs += n
		case ir.OutputBuf:
			e.Outputs += n
		case ir.ConstBuf:
			e.Weights += n
		}
		if n > e.LargestBytes {
			e.Largest, e.LargestBytes = b.Name, n
		}
	}
	if e.Inputs+e.Outputs+e.Activations+e.Weights > e.Limit {
		return e
	}
	return nil
}
