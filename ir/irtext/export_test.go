package irtext

import "ripc/ir"

// ParseProgram reads a Program and its funcs. The contents of constants are missing: see File.Bind.
func ParseProgram(file string, src []byte) (*ir.Program, error) {
	f, err := Parse(file, src)
	if err == nil && f.Program == nil {
		err = &ir.Error{Pos: ir.Pos{File: file}, Msg: "there is no program"}
	}
	if err != nil {
		return nil, err
	}
	return f.Program, nil
}

// ParseExpr reads an expression over the given buffers. Other names are loop variables.
func ParseExpr(src string, buffers map[string]ir.Buffer) (ir.Expr, error) {
	return try(func() ir.Expr {
		p := newParser("", src)
		p.bufs, p.loose = buffers, true
		e := p.expression()
		if p.tok.kind != end {
			panic(p.unexpected("an operator or the end"))
		}
		return e
	})
}
