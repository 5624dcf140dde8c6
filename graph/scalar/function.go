package scalar

import (
	"sync"

	"ripc/internal/enum"
	"ripc/internal/lists"
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
	truths    int      // the number of truth values, which are the first arguments
	truth     bool     // the result is one
	op        ir.BinOp // of the two arguments, where there are two
}

var functions = sync.OnceValue(func() []functionRow {
	return []functionRow{
		Plus:         {"add", 2, 0, false, ir.Add},
		Minus:        {"sub", 2, 0, false, ir.Sub},
		Times:        {"mul", 2, 0, false, ir.Mul},
		Over:         {"div", 2, 0, false, ir.Div},
		Minimum:      {"minimum", 2, 0, false, ir.Min},
		Maximum:      {"maximum", 2, 0, false, ir.Max},
		Greater:      {"greater", 2, 0, true, ir.Gt},
		GreaterEqual: {"greater_equal", 2, 0, true, ir.Ge},
		Less:         {"less", 2, 0, true, ir.Lt},
		LessEqual:    {"less_equal", 2, 0, true, ir.Le},
		Equal:        {"equal", 2, 0, true, ir.Eq},
		NotEqual:     {"not_equal", 2, 0, true, ir.Ne},
		Not:          {"logical_not", 1, 1, true, 0},
		And:          {"logical_and", 2, 2, true, ir.And},
		Or:           {"logical_or", 2, 2, true, ir.Or},
		Xor:          {"logical_xor", 2, 2, true, ir.Xor},
		Where:        {"where", 3, 1, false, 0},
	}
})

var functionTexts = sync.OnceValue(func() enum.Type[Function] {
	names := lists.Map(functions(), func(row functionRow) string { return row.name })
	return enum.Of[Function]("function", names...)
})

// Functions lists all of them.
func Functions() []Function { return functionTexts().All() }

// String is the name of the op that computes f.
func (f Function) String() string { return functionTexts().Name(f) }

// Arguments is how many arguments f has; the first truths of them are truth values.
func (f Function) Arguments() (n, truths int) { return functions()[f].arguments, functions()[f].truths }

// Truth reports whether f's result is a truth value.
func (f Function) Truth() bool { return functions()[f].truth }

// Eval computes f of its arguments.
func (f Function) Eval(args ...float32) float32 { return call(numbers{}, f, args) }

// Expr is f of expressions.
func (f Function) Expr(args ...ir.Expr) ir.Expr { return call(exprs{}, f, args) }

// call is the formula of f.
func call[T any](m arithmetic[T], f Function, x []T) T {
	switch f {
	case Not:
		return m.not(x[0])
	case Where:
		return m.choose(x[0], x[1], x[2])
	}
	return m.binary(functions()[f].op, x[0], x[1])
}
