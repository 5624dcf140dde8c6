package interp

import (
	"ripc/internal/f32"
	"ripc/ir"
)

// stmt compiles s. After an error the result may be nil: it will not run.
func (c *compiler) stmt(s ir.Stmt) stmtFn {
	switch s := s.(type) {
	case *ir.For:
		return c.loop(s)
	case *ir.Store:
		return c.store(s)
	case *ir.If:
		return c.branch(s)
	case *ir.Block:
		return c.block(s)
	case *ir.Alloc:
		return c.alloc(s)
	case *ir.Call:
		return c.call(s)
	case *ir.Comment, *ir.Barrier:
		return func(*frame) {}
	}
	c.fail("statement %T is missing or unknown", s)
	return nil
}

// loop runs all kinds of loops in order, but for those of devices with Checks.Order.
func (c *compiler) loop(s *ir.For) stmtFn {
	if s.Extent < 0 {
		c.fail("loop %%%s has extent %d", s.Var, s.Extent)
	}
	n := int64(s.Extent)
	slot := c.newSlot(n)
	c.scope = append(c.scope, variable{s.Var, slot})
	body := c.stmt(s.Body)
	c.scope = c.scope[:len(c.scope)-1]
	if s.Kind == ir.Blocks || s.Kind == ir.Threads {
		if turns := c.checks.Order.turns(s); turns != nil {
			return func(fr *frame) {
				for _, i := range turns {
					fr.spend(1)
					fr.v[slot] = int64(i)
					body(fr)
				}
			}
		}
	}
	return func(fr *frame) {
		for i := int64(0); i < n; {
			end := min(i+pollEvery, n)
			fr.spend(int(end - i))
			for ; i < end; i++ {
				fr.v[slot] = i
				body(fr)
			}
		}
	}
}

func (c *compiler) branch(s *ir.If) stmtFn {
	if s.Cond.Type() != ir.Bool {
		c.fail("the condition %s is %s, not bool", ir.ExprString(s.Cond), s.Cond.Type())
	}
	cond, then := c.int(s.Cond), c.stmt(s.Then)
	els := func(*frame) {}
	if s.Else != nil {
		els = c.stmt(s.Else)
	}
	return func(fr *frame) {
		if cond(fr) != 0 {
			then(fr)
		} else {
			els(fr)
		}
	}
}

func (c *compiler) block(s *ir.Block) stmtFn {
	var fns []stmtFn
	for _, t := range s.Stmts {
		if _, ok := t.(*ir.Comment); !ok {
			fns = append(fns, c.stmt(t))
		}
	}
	if len(fns) == 2 {
		first, second := fns[0], fns[1]
		return func(fr *frame) {
			first(fr)
			second(fr)
		}
	}
	return func(fr *frame) {
		for _, f := range fns {
			f(fr)
		}
	}
}

func (c *compiler) store(s *ir.Store) stmtFn {
	b := c.buffer(s.Buf)
	a := c.access(b, s.Idx)
	if !b.writable {
		c.fail("%%%s is an input, but is written", s.Buf)
	}
	if t := s.Val.Type(); t != b.Type {
		c.fail("a value of type %s is stored in %s", t, ir.BufferString(b.Buffer))
	}
	if b.Type.IsFloat() {
		v := c.f32(s.Val)
		switch s.Op {
		case ir.Assign:
			return func(fr *frame) {
				x := v(fr)
				*elem[float32](fr.mem[a.mem], a.writing(fr)) = x
			}
		case ir.AddTo:
			return a.updateF32(v, f32.Add)
		case ir.MinTo:
			return a.updateF32(v, f32.Min)
		case ir.MaxTo:
			return a.updateF32(v, f32.Max)
		}
	} else if fn := kindOf(b.Type).store(a, s.Op, c.int(s.Val)); fn != nil {
		if c.checks.Sums {
			fn = c.checkSum(s, a, fn)
		}
		return a.checkRange(fn)
	}
	c.fail("%q does not work on %s", s.Op.String(), b.Type)
	return nil
}

// checkRange wraps store with a check of the buffer's Range.
func (a *access) checkRange(store stmtFn) stmtFn {
	if a.Range.Any() {
		return store
	}
	element := kindOf(a.Type).load(a)
	return func(fr *frame) {
		store(fr)
		if x := element(fr); x < a.Range.From || x > a.Range.To {
			panic(a.describe(fr, a.site.error(fr, Number, "%d is stored, and %s", x, ir.BufferString(a.Buffer))))
		}
	}
}

func (a *access) updateF32(v f32Fn, op func(old, x float32) float32) stmtFn {
	return func(fr *frame) {
		x := v(fr)
		p := elem[float32](fr.mem[a.mem], a.reading(fr))
		*p = op(*p, x)
	}
}
