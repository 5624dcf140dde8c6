package interp

import (
	"ripc/ir"
)

// compiler turns one Func, and the instructions it calls, into closures.
type compiler struct {
	fn         *ir.Func
	calls      []*ir.Func         // instructions being compiled, outermost first
	bufs       map[string]*bufRef // in scope
	scope      []variable         // loops around the current statement, outermost first
	hiddenVars int                // number of variables in scope that belong to callers, and are invisible here
	extents    []int64            // per slot of frame.v: the variable is in 0..extent-1; unknown for windows
	allocs     []ir.Buffer        // memory beyond the parameters
	checks     Checks
}

// variable is a loop variable and its slot in frame.v.
type variable struct {
	name string
	slot int
}

// unknown is the extent of a slot that holds no loop variable.
const unknown = -1

// bufRef is a buffer in scope: a whole memory, or a window of it.
type bufRef struct {
	ir.Buffer
	mem      int     // frame.mem
	stride   []int64 // bytes
	base     int     // slot of frame.v with the byte offset of a window's start, unknown for whole buffers
	writable bool
	tracked  bool
}

// maxBytes bounds buffers, so that sizes and offsets cannot overflow.
const maxBytes = 1 << 32

// bufRef describes a whole buffer in memory mem.
func (c *compiler) bufRef(b ir.Buffer, mem int, writable bool) *bufRef {
	r := &bufRef{Buffer: b, mem: mem, base: unknown, writable: writable, stride: make([]int64, len(b.Shape))}
	n := int64(b.Type.Bytes())
	if n == 0 {
		c.fail("%%%s has no element type", b.Name)
	}
	for i := len(b.Shape) - 1; i >= 0; i-- {
		d := int64(b.Shape[i])
		if d < 0 || d > maxBytes/max(n, 1) {
			c.fail("%s: the shape is negative or too large", ir.BufferString(b))
		}
		r.stride[i] = n
		n *= max(d, 1)
	}
	return r
}

func (c *compiler) newSlot(extent int64) int {
	c.extents = append(c.extents, extent)
	return len(c.extents) - 1
}

// buffer returns the buffer called name in this scope, or nil (and an error).
func (c *compiler) buffer(name string) *bufRef {
	b := c.bufs[name]
	if b == nil {
		c.fail("there is no buffer %%%s here", name)
	}
	return b
}

// variable returns the slot of a loop variable.
func (c *compiler) variable(name string) (slot int, ok bool) {
	for i := len(c.scope) - 1; i >= c.hiddenVars; i-- {
		if c.scope[i].name == name {
			return c.scope[i].slot, true
		}
	}
	c.fail("there is no loop variable %%%s here", name)
	return 0, false
}

// alloc gives b memory for the extent of body.
func (c *compiler) alloc(s *ir.Alloc) stmtFn {
	mem := len(c.fn.Params) + len(c.allocs)
	b := c.bufRef(s.Buf, mem, true)
	b.tracked = c.checks.Reads
	c.allocs = append(c.allocs, s.Buf)
	old, shadows := c.bufs[s.Buf.Name]
	c.bufs[s.Buf.Name] = b
	body := c.stmt(s.Body)
	delete(c.bufs, s.Buf.Name)
	if shadows {
		c.bufs[s.Buf.Name] = old
	}
	fresh := make([]byte, s.Buf.Bytes())
	fill(fresh)
	if b.tracked {
		return func(fr *frame) {
			copy(fr.mem[mem], fresh)
			clear(fr.init[mem])
			body(fr)
		}
	}
	return func(fr *frame) {
		copy(fr.mem[mem], fresh)
		body(fr)
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = Poison
	}
}

// call compiles the instruction's body in place. Its parameters become windows, and slots hold the
// windows' byte offsets.
func (c *compiler) call(s *ir.Call) stmtFn {
	for _, f := range append(c.calls, c.fn) {
		if f == s.Fn || f.Name == s.Fn.Name {
			c.fail("@%s calls itself", s.Fn.Name)
		}
	}
	if len(s.Args) != len(s.Fn.Params) {
		c.fail("call @%s has %d arguments for %d parameters", s.Fn.Name, len(s.Args), len(s.Fn.Params))
	}
	bufs := map[string]*bufRef{}
	starts := make([]*access, len(s.Args))
	slots := make([]int, len(s.Args))
	for i, w := range s.Args {
		p := s.Fn.Params[i]
		b := c.buffer(w.Buf)
		if p.Type != b.Type || len(p.Shape) > len(b.Shape) {
			c.fail("call @%s: a window of %s cannot be parameter %s", s.Fn.Name, ir.BufferString(b.Buffer),
				ir.BufferString(p.Buffer))
		}
		if p.Out && !b.writable {
			c.fail("call @%s writes the input %%%s", s.Fn.Name, w.Buf)
		}
		if !p.Out && !p.Range.Has(b.Range) {
			c.fail("call @%s: elements of %s can be others than those of parameter %s", s.Fn.Name,
				ir.BufferString(b.Buffer), ir.BufferString(p.Buffer))
		}
		slots[i] = c.newSlot(unknown)
		starts[i] = c.window(b, w.Idx, p.Shape)
		view := p.Buffer
		if p.Out {
			view.Range = b.Range
		}
		bufs[p.Name] = &bufRef{Buffer: view, mem: b.mem, stride: b.stride[len(b.Shape)-len(p.Shape):], base: slots[i],
			writable: p.Out, tracked: b.tracked}
	}
	outer, hidden := c.bufs, c.hiddenVars
	c.bufs, c.hiddenVars, c.calls = bufs, len(c.scope), append(c.calls, s.Fn)
	body := c.stmt(s.Fn.Body)
	c.bufs, c.hiddenVars, c.calls = outer, hidden, c.calls[:len(c.calls)-1]
	return func(fr *frame) {
		for i, a := range starts {
			fr.v[slots[i]] = a.offset(fr)
		}
		body(fr)
	}
}
