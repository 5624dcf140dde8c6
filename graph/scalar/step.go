package scalar

import (
	"math"
	"slices"
	"sync"

	"ripc/internal/enum"
	"ripc/internal/f32"
	"ripc/internal/lists"
	"ripc/ir"
)

// Kind is the function of a float step. A new one has a row in the table of kinds and its formula
// in apply.
type Kind uint8

// The kinds. A, B, Lo, Hi and Mode are the step's.
const (
	Mul       Kind = iota // x * A
	Div                   // x / A
	Add                   // x + A
	Fma                   // fma(x, A, B)
	Relu                  // max(x, 0)
	Relu6                 // min(max(x, 0), 6)
	HardTanh              // min(max(x, -1), 1)
	Clip                  // min(max(x, Lo), Hi)
	PRelu                 // fma(min(x, 0), A, max(x, 0))
	Round                 // to an integer by Mode
	Sign                  // f32(x > 0) - f32(x < 0)
	Abs                   // |x|
	Least                 // min(x, A), so A where x is a NaN
	Most                  // max(x, A)
	Sigmoid               // 1 / (1 + e**-x)
	Tanh                  // the hyperbolic tangent
	Elu                   // x for x > 0, else A * (e**x - 1)
	Silu                  // x * sigmoid(x)
	HardSwish             // x * min(max(x/6 + 0.5, 0), 1)
	Exp                   // e**x
	Log                   // the logarithm to base e
	Sqrt                  // the square root, NaN of negative numbers
	Erf                   // the error function
)

// kindRow describes a kind.
type kindRow struct {
	name     string
	operands int
	copies   int // how often the formula has x; of a Round, its mode says it
	course   course
}

// course is how a step moves, in the arithmetic of f32, where x rises. Thresholds replace steps
// only where it is known: a wrong one gives wrong networks. It is a claim about rounded values: x /
// (1 + |x|) rises, but its rounded value falls at times.
type course uint8

const (
	mixed   course = iota // rises and falls, or nobody knows
	rising                // never falls
	turning               // never falls where A > 0, and never rises where A < 0
	bending               // never falls where A >= 0; where A < 0 it never rises up to 0, and never falls from there
	valley                // never rises up to 0, and never falls from there
)

var kinds = sync.OnceValue(func() []kindRow {
	return []kindRow{
		Mul:       {"mul", 1, 1, turning},
		Div:       {"div", 1, 1, turning},
		Add:       {"add", 1, 1, rising},
		Fma:       {"fma", 2, 1, turning},
		Relu:      {"relu", 0, 1, rising},
		Relu6:     {"relu6", 0, 1, rising},
		HardTanh:  {"hard_tanh", 0, 1, rising},
		Clip:      {"clip", 0, 1, rising},
		PRelu:     {"prelu", 1, 2, bending},
		Round:     {"round", 0, 1, rising},
		Sign:      {"sign", 0, 2, rising},
		Abs:       {"abs", 0, 1, valley},
		Least:     {"min", 1, 1, rising},
		Most:      {"max", 1, 1, rising},
		Sigmoid:   {"sigmoid", 0, expCopies, rising},
		Tanh:      {"tanh", 0, 2*expCopies + 1, rising},
		Elu:       {"elu", 1, expCopies + 1, bending},
		Silu:      {"silu", 0, expCopies + 1, mixed},
		HardSwish: {"hard_swish", 0, 2, mixed},
		Exp:       {"exp", 0, expCopies + 4, mixed},
		Log:       {"log", 0, expCopies + 8, mixed},
		Sqrt:      {"sqrt", 0, 1, mixed},
		Erf:       {"erf", 0, 2*expCopies + 8, mixed},
	}
})

var kindTexts = sync.OnceValue(func() enum.Type[Kind] {
	names := lists.Map(kinds(), func(row kindRow) string { return row.name })
	return enum.Of[Kind]("step", names...)
})

// Kinds lists all of them.
func Kinds() []Kind { return kindTexts().All() }

// String is the kind's name in printed graphs and in the names of kernels.
func (k Kind) String() string { return kindTexts().Name(k) }

// Step is one or two rounded f32 operations per element. Vectors have one entry per channel, or one
// for all; behind a convolution with borders they may have one per class of positions and channel,
// that of channel o in class k being number k*channels + o.
type Step struct {
	Kind   Kind
	A, B   []float32
	Lo, Hi float32  // Clip
	Mode   Rounding // Round
	From   string   // node that asked for it
}

// Vectors are the operands that s has, in order.
func (s Step) Vectors() [][]float32 { return [][]float32{s.A, s.B}[:kinds()[s.Kind].operands] }

// Eval computes s of x in channel o: of a class of positions in channel k*channels + o, where there
// are classes.
func (s Step) Eval(o int, x float32) float32 {
	var a, b float32
	if n := kinds()[s.Kind].operands; n > 0 {
		if a = s.A[o%len(s.A)]; n > 1 {
			b = s.B[o%len(s.B)]
		}
	}
	return apply(numbers{}, s, x, a, b)
}

// Expr is s of v; vector gives the operands, in order.
func (s Step) Expr(v ir.Expr, vector func() ir.Expr) ir.Expr {
	var operands [2]ir.Expr
	for i := range kinds()[s.Kind].operands {
		operands[i] = vector()
	}
	return apply(exprs{}, s, v, operands[0], operands[1])
}

// Copies is how often Expr has v.
func (s Step) Copies() int {
	if s.Kind == Round {
		return s.Mode.copies()
	}
	return kinds()[s.Kind].copies
}

// Long reports whether Expr is much longer than a few operations.
func (s Step) Long() bool { return s.Copies() >= expCopies }

// apply is the formula of s; a and b are its operands.
func apply[T any](m arithmetic[T], s Step, x T, a, b T) T {
	switch s.Kind {
	case Mul:
		return m.mul(x, a)
	case Div:
		return m.div(x, a)
	case Add:
		return m.add(x, a)
	case Fma:
		return m.fma(x, a, b)
	case Relu:
		return m.max(x, m.constant(0))
	case Relu6:
		return m.clip(x, 0, 6)
	case HardTanh:
		return m.clip(x, -1, 1)
	case Clip:
		return m.clip(x, s.Lo, s.Hi)
	case PRelu:
		return m.fma(m.min(x, m.constant(0)), a, m.max(x, m.constant(0)))
	case Round:
		return round(m, s.Mode, x)
	case Sign:
		zero := m.constant(0)
		negative := m.choose(m.binary(ir.Lt, x, zero), m.constant(-1), zero)
		return m.choose(m.binary(ir.Gt, x, zero), m.constant(1), negative)
	case Abs:
		return m.abs(x)
	case Least:
		return m.min(x, a)
	case Most:
		return m.max(x, a)
	case Sigmoid:
		return sigmoid(m, x)
	case Tanh:
		return tanh(m, x)
	case Elu:
		return elu(m, x, a)
	case Silu:
		return m.mul(x, sigmoid(m, x))
	case Exp:
		return expAll(m, x)
	case Log:
		return logAll(m, x)
	case Sqrt:
		return m.sqrt(x)
	case Erf:
		return erf(m, x)
	case HardSwish:
		return m.mul(x, m.clip(m.add(m.mul(x, m.constant(1.0/6)), m.constant(0.5)), 0, 1))
	}
	panic("BUG: unknown step " + s.Kind.String())
}

// EvalSteps computes steps, in order, of x in channel o.
func EvalSteps(steps []Step, o int, x float32) float32 {
	for _, s := range steps {
		x = s.Eval(o, x)
	}
	return x
}

// Turns reports whether s multiplies by A, so that it turns around the order of channels in which A
// is negative. (A PRelu does so for some values only.)
func (s Step) Turns() bool { return kinds()[s.Kind].course == turning }

// Monotone reports whether s, in each channel, never falls or never rises, as long as numbers stay
// finite.
func (s Step) Monotone() bool {
	switch kinds()[s.Kind].course {
	case rising, turning:
		return true
	case bending:
		return !slices.ContainsFunc(s.A, func(v float32) bool { return v < 0 })
	}
	return false
}

// Range bounds the results of s, in channel o, for numbers from lo to hi, which are no NaN. Where
// lo equals hi, the bounds are the result itself. ok is false where no bound is known.
func (s Step) Range(o int, lo, hi float32) (least, most float32, ok bool) {
	a, b := s.Eval(o, lo), s.Eval(o, hi)
	if lo == hi && math.Signbit(float64(lo)) == math.Signbit(float64(hi)) {
		return a, a, true
	}
	if a != a || b != b {
		return 0, 0, false
	}
	turn := float32(1)
	if len(s.A) > 0 {
		turn = s.A[o%len(s.A)]
	}
	switch kinds()[s.Kind].course {
	case rising:
		return a, b, true
	case turning:
		return min(a, b), max(a, b), turn-turn == 0 && (s.Kind != Div || f32.Flush(turn) != 0)
	case bending, valley:
		if lo < 0 && hi > 0 {
			return min(a, b, 0), max(a, b, 0), turn-turn == 0
		}
		return min(a, b), max(a, b), turn-turn == 0
	}
	return 0, 0, false
}

// Increasing reports whether steps never fall in any channel and keep numbers numbers.
func Increasing(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(s Step) bool {
		course := kinds()[s.Kind].course
		return course == mixed || course == valley || slices.ContainsFunc(s.A, func(v float32) bool {
			return v-v != 0 || course != rising && !(f32.Flush(v) > 0)
		}) || slices.ContainsFunc(s.B, func(v float32) bool { return v-v != 0 })
	})
}

// Alike reports whether steps do the same in all channels.
func Alike(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(s Step) bool {
		return slices.ContainsFunc(s.Vectors(), func(v []float32) bool { return slices.Max(v) != slices.Min(v) })
	})
}
