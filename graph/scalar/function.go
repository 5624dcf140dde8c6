package scalar

import (
	"sync"

	"ripc/internal/enum"
	"ripc/internal/f32"
	"ripc/ir"
)

// Function is an op on one element of each of several tensors. Its arguments and its result are f32
// numbers or truth values. Truth values are the numbers 1 and 0 in values, and bool in expressions.
// A comparison with a NaN is false, but for NotEqual; -0 equals 0.
type Function uint8

// The functions, of arguments a, b and c.
const (
	Plus         Function = iota // a + b
	Minus                        // a - b
	Times                        // a * b
	Over                         // a / b
	Minimum                      // a < b ? a : b, so b where one is a NaN
	Maximum                      // a > b ? a : b
	Greater                      // a > b
	GreaterEqual                 // a >= b
	Less                         // a < b
	LessEqual                    // a <= b
	Equal                        // a == b
	NotEqual                     // a != b
	Not                          // not a
	And                          // a and b
	Or                           // a or b
	Xor                          // a differs from b
	Where                        // a ? b : c
)

// functionRow describes a function.
type functionRow struct {
	name      string // of the op
	arguments int
	truths    int  // the number of truth values, which are the first arguments
	truth     bool // the result is one
}

var functions = sync.OnceValue(func() []functionRow {
	return []functionRow{
		Plus:         {"add", 2, 0, false},
		Minus:        {"sub", 2, 0, false},
		Times:        {"mul", 2, 0, false},
		Over:         {"div", 2, 0, false},
		Minimum:      {"minimum", 2, 0, false},
		Maximum:      {"maximum", 2, 0, false},
		Greater:      {"greater", 2, 0, true},
		GreaterEqual: {"greater_equal", 2, 0, true},
		Less:         {"less", 2, 0, true},
		LessEqual:    {"less_equal", 2, 0, true},
		Equal:        {"equal", 2, 0, true},
		NotEqual:     {"not_equal", 2, 0, true},
		Not:          {"logical_not", 1, 1, true},
		And:          {"logical_and", 2, 2, true},
		Or:           {"logical_or", 2, 2, true},
		Xor:          {"logical_xor", 2, 2, true},
		Where:        {"where", 3, 1, false},
	}
})

func functionNames() []string {
	var names []string
	for _, f := range functions() {
		names = append(names, f.name)
	}
	return names
}

// Functions lists all of them.
func Functions() []Function { return enum.All[Function](functionNames()) }

// String is the name of the op that computes f.
func (f Function) String() string { return enum.Name(functionNames(), f) }

// Arguments is how many arguments f has; the first truths of them are truth values.
func (f Function) Arguments() (n, truths int) { return functions()[f].arguments, functions()[f].truths }

// Truth reports whether f's result is a truth value.
func (f Function) Truth() bool { return functions()[f].truth }

// Eval computes f of its arguments.
func (f Function) Eval(args ...float32) float32 { return call(numbers{}, f, args) }

// Expr is f of expressions.
func (f Function) Expr(args ...ir.Expr) ir.Expr { return call(exprs{}, f, args) }

// functionArithmetic has the operations of functions' formulas.
type functionArithmetic[T any] interface {
	add(a, b T) T
	sub(a, b T) T
	mul(a, b T) T
	div(a, b T) T
	min(a, b T) T
	max(a, b T) T
	compare(op ir.BinOp, a, b T) T
	logic(op ir.BinOp, a, b T) T // And, Or or Xor
	yes() T
	choose(c, a, b T) T
}

// call is the formula of f.
func call[T any](m functionArithmetic[T], f Function, x []T) T {
	switch f {
	case Plus:
		return m.add(x[0], x[1])
	case Minus:
		return m.sub(x[0], x[1])
	case Times:
		return m.mul(x[0], x[1])
	case Over:
		return m.div(x[0], x[1])
	case Minimum:
		return m.min(x[0], x[1])
	case Maximum:
		return m.max(x[0], x[1])
	case Greater:
		return m.compare(ir.Gt, x[0], x[1])
	case GreaterEqual:
		return m.compare(ir.Ge, x[0], x[1])
	case Less:
		return m.compare(ir.Lt, x[0], x[1])
	case LessEqual:
		return m.compare(ir.Le, x[0], x[1])
	case Equal:
		return m.compare(ir.Eq, x[0], x[1])
	case NotEqual:
		return m.compare(ir.Ne, x[0], x[1])
	case Not:
		return m.logic(ir.Xor, x[0], m.yes())
	case And:
		return m.logic(ir.And, x[0], x[1])
	case Or:
		return m.logic(ir.Or, x[0], x[1])
	case Xor:
		return m.logic(ir.Xor, x[0], x[1])
	case Where:
		return m.choose(x[0], x[1], x[2])
	}
	panic("BUG: unknown function " + f.String())
}

func (numbers) sub(a, b float32) float32 { return f32.Sub(a, b) }
func (numbers) yes() float32             { return 1 }

func (numbers) compare(op ir.BinOp, a, b float32) float32 {
	a, b = f32.Flush(a), f32.Flush(b)
	switch op {
	case ir.Gt:
		return truth(a > b)
	case ir.Ge:
		return truth(a >= b)
	case ir.Lt:
		return truth(a < b)
	case ir.Le:
		return truth(a <= b)
	case ir.Eq:
		return truth(a == b)
	}
	return truth(a != b)
}

func (numbers) logic(op ir.BinOp, a, b float32) float32 {
	x, y := a != 0, b != 0
	switch op {
	case ir.And:
		return truth(x && y)
	case ir.Or:
		return truth(x || y)
	}
	return truth(x != y)
}

func (numbers) choose(c, a, b float32) float32 {
	if c != 0 {
		return a
	}
	return b
}

func truth(v bool) float32 {
	if v {
		return 1
	}
	return 0
}

func (exprs) sub(a, b ir.Expr) ir.Expr                  { return ir.Bin(ir.Sub, a, b) }
func (exprs) yes() ir.Expr                              { return ir.Const(ir.Bool, 1) }
func (exprs) compare(op ir.BinOp, a, b ir.Expr) ir.Expr { return ir.Bin(op, a, b) }
func (exprs) logic(op ir.BinOp, a, b ir.Expr) ir.Expr   { return ir.Bin(op, a, b) }
func (exprs) choose(c, a, b ir.Expr) ir.Expr            { return &ir.Select{Cond: c, A: a, B: b} }
