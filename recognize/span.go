package recognize

import (
	"math"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// A span encloses the numbers lo..hi that one tensor may hold, given a range of numbers for the
// tensor that it is computed from. Spans follow f32 arithmetic: where lo equals hi the number is
// known to the bit (but for the sign of a zero).
//
// Bounds alone cannot prove that (s - x) + x is s, since they take the two x for different numbers.
// Forms can.
type span struct {
	lo, hi float32
	nan    bool // NaN is possible as well
	none   bool // no number but NaN is possible
	forms  []form
}

// form says that the numbers of a tensor are k times those of another tensor, plus a real number in
// lo..hi. The range includes all roundings between the two.
type form struct {
	register int // register of the other tensor
	k        float64
	lo, hi   float64
}

// maxForms bounds the forms that a span has.
const maxForms = 6

func point(v float32) span {
	if v != v {
		return span{nan: true, none: true}
	}
	return span{lo: v, hi: v}
}

// anySpan encloses all numbers and NaN.
func anySpan() span {
	inf := float32(math.Inf(1))
	return span{lo: -inf, hi: inf, nan: true}
}

// known reports whether s is one number, NaN apart.
func (s span) known() bool { return !s.none && s.lo == s.hi }

// hull returns the smallest span that encloses s and t.
func (s span) hull(t span) span {
	switch {
	case s.none:
		return span{lo: t.lo, hi: t.hi, nan: true, none: t.none}
	case t.none:
		return span{lo: s.lo, hi: s.hi, nan: true}
	}
	return span{lo: min(s.lo, t.lo), hi: max(s.hi, t.hi), nan: s.nan || t.nan}
}

// spanOf returns the smallest span that encloses ends.
func spanOf(ends ...float32) span {
	s := span{none: true}
	nan := false
	for _, v := range ends {
		nan = nan || v != v
		s = s.hull(point(v))
	}
	s.nan = nan
	return s
}

// calculus selects the arithmetic of spans.
type calculus struct {
	forms bool // keep forms: some tensor is read twice
	// exact counts roundings. Without it spans are those of real numbers, and a product with 0 is
	// 0.
	exact bool
	// signZero is the value of sign(0).
	signZero float32
}

// step applies s, in channel o, to numbers in x.
func (c calculus) step(s scalar.Step, o int, x span) span {
	if x.none && !x.nan {
		return x
	}
	switch s.Kind {
	case scalar.Add:
		return c.add(x, point(s.A[o]), false)
	case scalar.Mul:
		return c.mul(x, point(s.A[o]), false)
	case scalar.Sign:
		return c.monotone(func(v float32) float32 {
			if v = s.Eval(o, v); v == 0 {
				v = c.signZero
			}
			return v
		}, x)
	case scalar.PRelu:
		if !x.none && x.hi <= 0 && !x.nan {
			return c.mul(x, point(s.A[o]), false)
		}
	case scalar.Abs:
		if !x.none && x.hi <= 0 {
			return c.mul(x, point(-1), false)
		}
	}
	out := span{none: true, nan: false}
	if !x.none {
		lo, hi, ok := s.Range(o, x.lo, x.hi)
		if !ok {
			return anySpan()
		}
		out = spanOf(lo, hi)
		if lo == x.lo && hi == x.hi && isIdentityOn(s, x) {
			out.forms = x.forms
		}
	}
	return c.withNaN(out, x.nan, s.Eval(o, float32(math.NaN())))
}

// isIdentityOn reports whether s maps each number in x to itself.
func isIdentityOn(s scalar.Step, x span) bool {
	switch s.Kind {
	case scalar.Relu, scalar.Relu6, scalar.HardTanh, scalar.Clip, scalar.Least, scalar.Most:
		return true // monotone: fixed ends suffice
	case scalar.PRelu, scalar.Abs:
		return x.lo >= 0
	}
	return false
}

// withNaN adds to s the value v that a NaN yields, if nan is set.
func (c calculus) withNaN(s span, nan bool, v float32) span {
	if !nan {
		return s
	}
	forms := s.forms
	t := s.hull(point(v))
	t.nan = s.nan || v != v
	if t.lo == s.lo && t.hi == s.hi {
		t.forms = forms
	}
	return t
}

// monotone applies f, which never falls, to numbers in x.
func (c calculus) monotone(f func(x float32) float32, x span) span {
	out := span{none: true}
	if !x.none {
		out = spanOf(f(x.lo), f(x.hi))
	}
	return c.withNaN(out, x.nan, f(float32(math.NaN())))
}

// add encloses a + b, or a - b if sub is set.
func (c calculus) add(a, b span, sub bool) span {
	if a.none || b.none {
		return span{none: true, nan: true}
	}
	out := span{nan: a.nan || b.nan}
	sign := 1.0
	if sub {
		sign = -1
		out.lo, out.hi = f32.Sub(a.lo, b.hi), f32.Sub(a.hi, b.lo)
	} else {
		out.lo, out.hi = f32.Add(a.lo, b.lo), f32.Add(a.hi, b.hi)
	}
	if out.lo != out.lo || out.hi != out.hi {
		return anySpan()
	}
	if !c.forms {
		return out
	}
	e := 0.0
	if c.exact {
		e = roundingOf(a, b, out, sign)
	}
	for _, f := range a.forms {
		for _, g := range b.forms {
			if f.register != g.register {
				continue
			}
			s := form{register: f.register, k: f.k + sign*g.k}
			s.lo, s.hi = sumDown(f.lo, min(sign*g.lo, sign*g.hi)), sumUp(f.hi, max(sign*g.lo, sign*g.hi))
			if s.k != 0 {
				out.forms = append(out.forms, s.widen(e))
				continue
			}
			lo, hi := f32.Flush(float32(s.lo)), f32.Flush(float32(s.hi))
			if !c.exact { // bounds with roundings do not apply to real numbers
				return span{lo: lo, hi: hi}
			}
			out.lo, out.hi = max(out.lo, lo), min(out.hi, hi)
		}
	}
	if b.known() {
		out.forms = append(out.forms, shiftForms(a.forms, 1, sign*float64(b.lo), e)...)
	} else if a.known() {
		out.forms = append(out.forms, shiftForms(b.forms, sign, float64(a.lo), e)...)
	}
	return out
}

// shiftForms multiplies forms by k, adds v, and allows for a rounding of at most e. k is 1 or -1
// where roundings count.
func shiftForms(forms []form, k, v, e float64) []form {
	var out []form
	for _, f := range forms {
		lo, hi := min(k*f.lo, k*f.hi), max(k*f.lo, k*f.hi)
		out = append(out, form{f.register, k * f.k, sumDown(lo, v), sumUp(hi, v)}.widen(e))
	}
	return out
}

// widen moves both bounds of f outwards by e.
func (f form) widen(e float64) form {
	f.lo, f.hi = sumDown(f.lo, -e), sumUp(f.hi, e)
	return f
}

// minNormal is the smallest normal number; sums below it become 0.
const minNormal = 0x1p-126

// roundingOf bounds by how much out, the rounded a + sign*b, may differ from the exact sum.
func roundingOf(a, b, out span, sign float64) float64 {
	if a.known() && a.lo == 0 || b.known() && b.lo == 0 {
		return 0
	}
	lo, hi := float64(b.lo), float64(b.hi)
	if sign < 0 {
		lo, hi = -hi, -lo
	}
	most := max(-sumDown(float64(a.lo), lo), sumUp(float64(a.hi), hi))
	if math.IsInf(most, 0) || most != most {
		return math.Inf(1)
	}
	flushed := 0.0
	g := min(grain(a), grain(b))
	if g < minNormal && !(out.lo >= minNormal || out.hi <= -minNormal) {
		flushed = minNormal
	}
	if g > 0 && most <= 0x1p24*g { // a multiple of g, of 24 bits
		return flushed
	}
	_, exp := math.Frexp(most) // most < 2^exp, or equal to 2^(exp-1)
	if most == math.Ldexp(1, exp-1) {
		exp--
	}
	return max(math.Ldexp(1, exp-25), minNormal)
}

// sumUp is a + b in f64, rounded up.
func sumUp(a, b float64) float64 {
	s := a + b
	if t := s - a; (a-(s-t))+(b-t) > 0 { // TwoSum: the rounding error is positive
		return math.Nextafter(s, math.Inf(1))
	}
	return s
}

// sumDown is a + b in f64, rounded down.
func sumDown(a, b float64) float64 { return -sumUp(-a, -b) }

// grain returns a power of two that divides all numbers in s, or 0 if none is known.
func grain(s span) float64 {
	if s.known() {
		m, exp := math.Frexp(math.Abs(float64(s.lo)))
		if m == 0 || m-m != 0 {
			return 0
		}
		n := uint64(m * (1 << 24))
		return math.Ldexp(float64(n&-n), exp-24)
	}
	least := min(math.Abs(float64(s.lo)), math.Abs(float64(s.hi)))
	if !(s.lo > 0 || s.hi < 0) || least == 0 || math.IsInf(least, 0) {
		return 0
	}
	_, exp := math.Frexp(least)
	return math.Ldexp(1, exp-24)
}

// mul encloses a * b; square says that both are the same number.
func (c calculus) mul(a, b span, square bool) span {
	if zero := func(s span) bool { return s.known() && s.lo == 0 && !s.nan }; !c.exact && (zero(a) || zero(b)) {
		return point(0)
	}
	if a.none || b.none {
		return span{none: true, nan: true}
	}
	nan := a.nan || b.nan
	infinite := func(s span) bool { return math.IsInf(float64(s.lo), 0) || math.IsInf(float64(s.hi), 0) }
	zero := func(s span) bool { return s.lo <= 0 && s.hi >= 0 }
	out := span{none: true}
	if square {
		x, y := f32.Abs(a.lo), f32.Abs(a.hi)
		if x > y {
			x, y = y, x
		}
		if zero(a) {
			x = 0
		}
		out = spanOf(f32.Mul(x, x), f32.Mul(y, y))
	} else {
		for _, x := range []float32{a.lo, a.hi} {
			for _, y := range []float32{b.lo, b.hi} {
				if v := f32.Mul(x, y); v == v {
					out = out.hull(point(v))
					continue
				}
				nan = true
				// Between 0 and infinity all products are possible, unless the one is 0 itself or
				// the other infinite itself.
				switch {
				case !(a.known() || b.known()):
					return anySpan()
				case a.known() && a.lo == 0 && b.known(), b.known() && b.lo == 0 && a.known():
				case a.known() && a.lo == 0, b.known() && b.lo == 0:
					out = out.hull(point(0))
				default:
					out = out.hull(point(float32(math.Inf(-1)))).hull(point(float32(math.Inf(1))))
				}
			}
		}
		if infinite(a) && zero(b) || infinite(b) && zero(a) {
			nan = true
		}
	}
	out.nan = nan
	if c.forms && !out.none {
		if b.known() {
			out.forms = c.scaleForms(a.forms, float64(b.lo))
		} else if a.known() {
			out.forms = c.scaleForms(b.forms, float64(a.lo))
		}
	}
	return out
}

// scaleForms multiplies forms by k. With roundings, k must be 1 or -1, so that products need no
// rounding.
func (c calculus) scaleForms(forms []form, k float64) []form {
	if c.exact && k != 1 && k != -1 {
		return nil
	}
	out := make([]form, len(forms))
	for i, f := range forms {
		out[i] = form{f.register, k * f.k, min(k*f.lo, k*f.hi), max(k*f.lo, k*f.hi)}
	}
	return out
}

// div encloses a / b.
func (c calculus) div(a, b span) span {
	if a.none || b.none {
		return span{none: true, nan: true}
	}
	if a.known() && b.known() && (b.lo != 0 || math.Signbit(float64(b.lo)) == math.Signbit(float64(b.hi))) {
		s := point(f32.Div(a.lo, b.lo))
		s.nan = s.nan || a.nan || b.nan
		return s
	}
	if b.lo <= 0 && b.hi >= 0 || math.IsInf(float64(b.lo), 0) || math.IsInf(float64(b.hi), 0) {
		return anySpan()
	}
	ends := []float32{f32.Div(a.lo, b.lo), f32.Div(a.lo, b.hi), f32.Div(a.hi, b.lo), f32.Div(a.hi, b.hi)}
	for _, v := range ends {
		if v != v {
			return anySpan()
		}
	}
	out := spanOf(ends...)
	out.nan = a.nan || b.nan
	if c.forms && b.known() {
		out.forms = c.scaleForms(a.forms, 1/float64(b.lo))
	}
	return out
}

// function applies f to numbers in args; square says that all of these are the same number.
func (c calculus) function(f scalar.Function, args []span, square bool) span {
	a, b := args[0], args[len(args)-1]
	// between returns lo..hi, and f's value for NaN operands if they are possible.
	between := func(lo, hi float32) span {
		out := span{lo: lo, hi: hi}
		if nan := float32(math.NaN()); a.none || b.none {
			out = point(f.Eval(nan, nan))
		} else if a.nan || b.nan {
			out = out.hull(point(f.Eval(nan, nan)))
		}
		return out
	}
	switch f {
	case scalar.Plus, scalar.Minus:
		return c.add(a, b, f == scalar.Minus)
	case scalar.Times:
		return c.mul(a, b, square)
	case scalar.Over:
		return c.div(a, b)
	case scalar.Minimum, scalar.Maximum:
		return c.extreme(f, a, b)
	case scalar.Greater, scalar.GreaterEqual:
		return between(f.Eval(a.lo, b.hi), f.Eval(a.hi, b.lo))
	case scalar.Less, scalar.LessEqual:
		return between(f.Eval(a.hi, b.lo), f.Eval(a.lo, b.hi))
	case scalar.Equal, scalar.NotEqual:
		switch {
		case a.known() && b.known() || a.hi < b.lo || b.hi < a.lo:
			v := f.Eval(a.lo, b.lo)
			return between(v, v)
		}
		return span{lo: 0, hi: 1}
	case scalar.Not:
		return span{lo: f.Eval(a.hi), hi: f.Eval(a.lo)}
	case scalar.And, scalar.Or:
		return span{lo: f.Eval(a.lo, b.lo), hi: f.Eval(a.hi, b.hi)}
	case scalar.Xor:
		if a.known() && b.known() {
			return point(f.Eval(a.lo, b.lo))
		}
		return span{lo: 0, hi: 1}
	case scalar.Where:
		switch yes, no := args[1], args[2]; {
		case !a.known():
			return yes.hull(no)
		case a.lo != 0:
			return yes
		default:
			return no
		}
	}
	return anySpan()
}

// extreme encloses the smaller or the greater of a and b; b where one is a NaN.
func (c calculus) extreme(f scalar.Function, a, b span) span {
	if a.none || b.none {
		return b
	}
	out := span{lo: f.Eval(a.lo, b.lo), hi: f.Eval(a.hi, b.hi), nan: b.nan}
	switch least := f == scalar.Minimum; {
	case a.nan:
		out = out.hull(b)
	case least && a.hi < b.lo || !least && a.lo > b.hi:
		out.forms = a.forms
	case least && b.hi < a.lo || !least && b.lo > a.hi:
		out.forms = b.forms
	}
	return out
}
