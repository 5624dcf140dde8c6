package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// setEncoding views the words of a buffer as parts, such as u32 as bytes: the buffer gets an
// innermost dimension, least significant part first, which is how words lie in memory. Popcounts
// that are summed up are split into those of the parts, by a loop of their own, so that the parts
// can become lanes (see rfactor). Other systems: none.
//
//	@f(%w: u32[3, 64], ...) { ... %acc[%o] += cast<i32>(popcount(%x[%k] ^ %w[%k, %o])) ... }
//	=> set_encoding w u8
//	@f(%w: u8[3, 64, 4], ...) { ... for %acc.part in 0:4 {
//	  %acc[%o] += cast<i32>(popcount(cast<u8>(%x[%k] >> cast<u32>(%acc.part * 8)) ^ %w[%k, %o, %acc.part]))
//	} ... }
//	=> set_encoding x u8
//	... %acc[%o] += cast<i32>(popcount(%x[%k, %acc.part] ^ %w[%k, %o, %acc.part])) ...
//
// Words that are stored into an alloc are stored part by part, in a loop named after it too. Other
// reads of the buffer put the word together again. A parameter stays the same bytes: no pack is
// made, the caller's buffer is viewed (ApplyAll tells). The result names the loops; the default is
// the name of the buffer that is stored to, and .part. It is refused if the types are not unsigned
// integers, the new one narrower; for outputs; if a call takes the buffer; if a store into it
// combines otherwise than by |=; and if a vectorize loop would get a loop inside.
func setEncoding(f *ir.Func, buffer string, t ir.Type, loop string) (*ir.Func, *Pack) {
	b := findBuffer(f, buffer)
	if !b.Type.IsInt() || b.Type.Signed() || !t.IsInt() || t.Signed() || t.Bits() >= b.Type.Bits() {
		refuse("view u64, u32 or u16 as something narrower: u8, u16 or u32",
			"%%%s of type %s has no parts of type %s", buffer, b.Type, t)
	}
	noCalls(f, buffer, "set_encoding")
	e := &encoding{of: b, to: b, names: namesOf(f), loop: loop, ranges: deps.ScopeOf(f.Body).Ranges}
	if loop != "" && e.names[loop] {
		refuse("give other names after ->", "the name %%%s is taken", loop)
	}
	e.parts = b.Type.Bits() / t.Bits()
	e.to.Type, e.to.Enc, e.to.Range = t, ir.Encoding{}, ir.Range{}
	e.to.Shape = append(slices.Clone(b.Shape), e.parts)
	param := parameter(f, buffer)
	noStoreInLanes(f, "set_encoding", fmt.Sprintf("the parts of %%%s", buffer), func(s *ir.Store) bool {
		return s.Buf == buffer || e.counted(s)
	})
	g := withBuffer(f.WithBody(ir.MapStmt(f.Body, e.stmt, nil)), param, e.to)
	if param < 0 {
		return g, nil
	}
	return g, &Pack{Param: buffer, Func: viewing(b, e.to), View: true}
}

// encoding is a change of a buffer's type.
type encoding struct {
	of, to ir.Buffer
	parts  int
	loop   string // of the parts; "" is one named after each buffer
	names  used
	ranges arith.Ranges
}

// stmt rewrites s: a store into the buffer, a part at a time; one into another buffer, its
// popcounts of the buffer if it sums them.
func (e *encoding) stmt(s ir.Stmt) ir.Stmt {
	st, ok := s.(*ir.Store)
	counted := ok && e.counted(st)
	if !ok || st.Buf != e.of.Name && !counted {
		return mapOwn(s, e.read)
	}
	if !counted && st.Op != ir.Assign && st.Op != ir.OrTo {
		refuse("", "%%%s is combined with %s in %s, and a part with a part is something else", e.of.Name, st.Op,
			storeText([]deps.Access{{Store: st}}))
	}
	name := cmp.Or(e.loop, st.Buf+".part")
	if e.names[name] {
		name = e.names.copyOf(name)
	} else {
		e.names.take(name)
	}
	v := ir.V(name)
	out := &ir.Store{Buf: st.Buf, Idx: e.readAll(st.Idx), Op: st.Op}
	if counted {
		out.Val = e.count(st.Val, v)
	} else {
		out.Idx, out.Val = extend(out.Idx, v), e.part(st.Val, v)
	}
	return &ir.For{Var: name, Extent: e.parts, Axis: ir.Part, Body: out}
}

func (e *encoding) readAll(es []ir.Expr) []ir.Expr { return lists.Map(es, e.read) }

// counted reports whether s sums up popcounts of words of the buffer, alone or times something. A
// product that may wrap before it becomes wider is not the sum of the parts' products.
func (e *encoding) counted(s *ir.Store) bool {
	if s.Op != ir.AddTo || !s.Val.Type().IsInt() {
		return false
	}
	x, widened := s.Val, false
	for {
		switch y := x.(type) {
		case *ir.Cast:
			if !y.A.Type().IsInt() {
				return false
			}
			widened = widened || y.T.Bits() > y.A.Type().Bits()
			x = y.A
			continue
		case *ir.Binary:
			if !widened && (y.Op == ir.Mul || y.Op == ir.Shl) && !ir.Reads(y.B, e.of.Name) {
				x = y.A
				continue
			}
		case *ir.Unary:
			return y.Op == ir.Popcount && y.Type() == e.of.Type && ir.Reads(y.A, e.of.Name)
		}
		return false
	}
}

// count returns x, which passed counted, for part v. A popcount fits in every type of integers, so
// conversions of it may be left out, and multiplying distributes over the sum however it wraps.
func (e *encoding) count(x, v ir.Expr) ir.Expr {
	switch y := x.(type) {
	case *ir.Cast:
		if u, ok := y.A.(*ir.Unary); ok {
			return ir.CastTo(y.T, ir.Un(ir.Popcount, e.part(u.A, v)))
		}
		return ir.CastTo(y.T, e.count(y.A, v))
	case *ir.Binary:
		return &ir.Binary{Op: y.Op, A: e.count(y.A, v), B: y.B}
	case *ir.Unary:
		return ir.CastTo(y.Type(), ir.Un(ir.Popcount, e.part(y.A, v)))
	}
	return x
}

// viewing is the Func that makes the parts out of the words, which changes no byte.
func viewing(from, to ir.Buffer) *ir.Func {
	return relayoutFunc("view", from, to, to.Shape, func(from ir.Buffer, i []ir.Expr) ([]ir.Expr, ir.Expr) {
		last := len(i) - 1
		count := ir.CastTo(from.Type, ir.Bin(ir.Mul, i[last], ir.Int(to.Type.Bits())))
		return i, ir.CastTo(to.Type, &ir.Binary{Op: ir.Shr, A: ir.At(from, i[:last]...), B: count})
	})
}

// part is part v of the word x.
func (e *encoding) part(x ir.Expr, v ir.Expr) ir.Expr {
	t := e.to.Type
	switch y := x.(type) {
	case *ir.Load:
		if y.Buf == e.of.Name {
			return e.element(e.readAll(y.Idx), v)
		}
	case *ir.Binary:
		if y.Op == ir.And || y.Op == ir.Or || y.Op == ir.Xor {
			return &ir.Binary{Op: y.Op, A: e.part(y.A, v), B: e.part(y.B, v)}
		}
	case *ir.Unary:
		if y.Op == ir.Not {
			return ir.Un(ir.Not, e.part(y.A, v))
		}
	case *ir.Select:
		return &ir.Select{Cond: e.read(y.Cond), A: e.part(y.A, v), B: e.part(y.B, v)}
	case *ir.IntImm:
		mask := int64(1)<<t.Bits() - 1
		same := true
		for k := range e.parts {
			same = same && y.V>>(k*t.Bits())&mask == y.V&mask
		}
		if same {
			return ir.Const(t, y.V&mask)
		}
	}
	count := ir.CastTo(e.of.Type, ir.Bin(ir.Mul, v, ir.Int(t.Bits())))
	return ir.CastTo(t, &ir.Binary{Op: ir.Shr, A: e.read(x), B: count})
}

// read is x with the words of the buffer as they are now: a part that is taken of one is read
// itself, other words are put together.
func (e *encoding) read(x ir.Expr) ir.Expr {
	if !ir.Reads(x, e.of.Name) {
		return x
	}
	words := map[ir.Expr]*ir.Load{}
	return ir.MapExpr(x, func(y ir.Expr) ir.Expr {
		switch y := y.(type) {
		case *ir.Load:
			if y.Buf == e.of.Name {
				w := e.word(y.Idx)
				words[w] = y
				return w
			}
		case *ir.Cast:
			shift, ok := y.A.(*ir.Binary)
			if !ok || shift.Op != ir.Shr || y.T != e.to.Type || words[shift.A] == nil {
				return y
			}
			if v, ok := e.partOf(shift.B); ok {
				return e.element(words[shift.A].Idx, v)
			}
		}
		return y
	})
}

// element is part v of the word at idx.
func (e *encoding) element(idx []ir.Expr, v ir.Expr) ir.Expr {
	return &ir.Load{Buf: e.of.Name, T: e.to.Type, Idx: extend(idx, v)}
}

// word puts the word at idx together.
func (e *encoding) word(idx []ir.Expr) ir.Expr {
	var word ir.Expr
	for k := range e.parts {
		at := ir.Bin(ir.Shl, ir.CastTo(e.of.Type, e.element(idx, ir.Int(k))),
			ir.Const(e.of.Type, int64(k*e.to.Type.Bits())))
		if word == nil {
			word = at
		} else {
			word = &ir.Binary{Op: ir.Or, A: word, B: at}
		}
	}
	return word
}

// partOf finds v in a count of bits that is v times the bits of a part.
func (e *encoding) partOf(count ir.Expr) (ir.Expr, bool) {
	bits := int64(e.to.Type.Bits())
	if k, ok := count.(*ir.IntImm); ok && k.V%bits == 0 && k.V >= 0 && k.V < int64(e.of.Type.Bits()) {
		return ir.Int(int(k.V / bits)), true
	}
	c, ok := count.(*ir.Cast)
	if !ok || c.A.Type() != ir.I64 {
		return nil, false
	}
	a := arith.ToAffine(c.A)
	if a.Const%bits != 0 {
		return nil, false
	}
	v := arith.Affine{Const: a.Const / bits}
	for _, t := range a.Terms {
		if t.Coef%bits != 0 {
			return nil, false
		}
		v.Terms = append(v.Terms, arith.Term{Coef: t.Coef / bits, Atom: t.Atom})
	}
	iv, known := v.Bounds(e.ranges)
	return v.Expr(), known && iv.Lo >= 0 && iv.Hi < int64(e.parts)
}
