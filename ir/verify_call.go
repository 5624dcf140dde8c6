package ir

import "fmt"

// call checks the operands of an instruction, and the instruction itself the first time it is met.
func (v *verifier) call(c *Call) error {
	if c.Fn == nil {
		return v.fail("call", wrong("the instruction is missing", ""))
	}
	op := fmt.Sprintf("call @%s", c.Fn.Name)
	done, seen := v.checked[c.Fn]
	if seen && !done {
		return v.fail(op, wrong("the instruction calls itself", ""))
	}
	if !seen {
		if err := verifyFunc(c.Fn, v.checked); err != nil {
			return err
		}
	}
	if len(c.Args) != len(c.Fn.Params) {
		return v.fail(op, wrong(fmt.Sprintf("%d operands", len(c.Args)), fmt.Sprintf("@%s takes %d", c.Fn.Name, len(c.Fn.Params))))
	}
	for i, w := range c.Args {
		p := c.Fn.Params[i]
		if err := v.exprs(w.Idx); err != nil {
			return err
		}
		arg := fmt.Sprintf("%s, operand %s", op, element(w.Buf, w.Idx))
		b, err := v.access(arg, w.Buf, w.Idx, p.Out)
		if err != nil {
			return err
		}
		if b.Type != p.Type {
			return v.fail(arg, wrong(fmt.Sprintf("elements are %s", b.Type), "the parameter is "+BufferString(p.Buffer)))
		}
		skip := len(b.Shape) - len(p.Shape)
		if skip < 0 {
			return v.fail(arg, wrong(fmt.Sprintf("%s has %d dimensions", BufferString(b), len(b.Shape)), "the parameter is "+BufferString(p.Buffer)))
		}
		for d, n := range p.Shape {
			if n > b.Shape[skip+d] {
				return v.fail(arg, wrong(fmt.Sprintf("dimension %d of %s is too small", skip+d, BufferString(b)), "the parameter is "+BufferString(p.Buffer)))
			}
		}
	}
	return nil
}
