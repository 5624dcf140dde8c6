package ir

// Expr is a scalar expression.
type Expr interface {
	Type() Type
	isExpr()
}

// BinOp is a binary operator.
type BinOp uint8

// Binary operators. Eq and those after it give bool.
const (
	Add BinOp = iota
	Sub
	Mul
	Div
	Mod
	Min
	Max
	And
	Or
	Xor
	Shl
	Shr
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
)

// String returns the operator as .ripir writes it; Min and Max are written as calls.
func (o BinOp) String() string {
	return [...]string{"+", "-", "*", "/", "%", "min", "max", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">",
		">="}[o]
}

// IsCompare reports whether the operator gives bool.
func (o BinOp) IsCompare() bool { return o >= Eq }

// UnOp is a unary operator.
type UnOp uint8

// Unary operators.
const (
	Neg UnOp = iota
	Not
	Popcount
	Sqrt
	Floor
	RoundEven
	Abs
)

// String returns the operator as .ripir writes it; all but Neg and Not are written as calls.
func (o UnOp) String() string {
	return [...]string{"-", "~", "popcount", "sqrt", "floor", "round_even", "abs"}[o]
}

// IntImm is an integer or bool constant.
type IntImm struct {
	T Type
	V int64 // for u64, the bits
}

// FloatImm is an f32 constant.
type FloatImm struct{ V float32 }

// Var is a loop variable (i64).
type Var struct{ Name string }

// Load reads one element.
type Load struct {
	Buf string
	T   Type
	Idx []Expr
}

// Binary applies Op to operands of one type.
type Binary struct {
	Op   BinOp
	A, B Expr
}

// Unary applies Op.
type Unary struct {
	Op UnOp
	A  Expr
}

// Select is A where Cond holds, else B; only the chosen side is evaluated.
type Select struct{ Cond, A, B Expr }

// Cast converts; see the package comment.
type Cast struct {
	T Type
	A Expr
}

// Bitcast reinterprets the bits of A, of equal width.
type Bitcast struct {
	T Type
	A Expr
}

// Fma is A*B+C on f32, rounded once.
type Fma struct{ A, B, C Expr }

func (e *IntImm) Type() Type   { return e.T }
func (e *FloatImm) Type() Type { return F32 }
func (e *Var) Type() Type      { return I64 }
func (e *Load) Type() Type     { return e.T }
func (e *Binary) Type() Type {
	if e.Op.IsCompare() {
		return Bool
	}
	return e.A.Type()
}
func (e *Unary) Type() Type   { return e.A.Type() }
func (e *Select) Type() Type  { return e.A.Type() }
func (e *Cast) Type() Type    { return e.T }
func (e *Bitcast) Type() Type { return e.T }
func (e *Fma) Type() Type     { return F32 }

func (*IntImm) isExpr()   {}
func (*FloatImm) isExpr() {}
func (*Var) isExpr()      {}
func (*Load) isExpr()     {}
func (*Binary) isExpr()   {}
func (*Unary) isExpr()    {}
func (*Select) isExpr()   {}
func (*Cast) isExpr()     {}
func (*Bitcast) isExpr()  {}
func (*Fma) isExpr()      {}

// Int returns an i64 constant, the type of indices.
func Int(v int) Expr { return &IntImm{I64, int64(v)} }

// Const returns an integer constant of type t.
func Const(t Type, v int64) Expr { return &IntImm{t, v} }

// Float returns an f32 constant.
func Float(v float32) Expr { return &FloatImm{v} }

// V returns the loop variable called name.
func V(name string) Expr { return &Var{name} }

// Bin applies a binary operator, folding the identities that keep index expressions readable
// (x+0, x*1, x*0 and constants of type i64).
func Bin(op BinOp, a, b Expr) Expr {
	x, xc := a.(*IntImm)
	y, yc := b.(*IntImm)
	if xc && yc && x.T == I64 {
		switch op {
		case Add:
			return &IntImm{I64, x.V + y.V}
		case Sub:
			return &IntImm{I64, x.V - y.V}
		case Mul:
			return &IntImm{I64, x.V * y.V}
		}
	}
	if yc && y.T.IsInt() {
		switch {
		case y.V == 0 && (op == Add || op == Sub || op == Shl || op == Shr):
			return a
		case y.V == 1 && (op == Mul || op == Div):
			return a
		case y.V == 0 && op == Mul:
			return b
		}
	}
	if xc && x.T.IsInt() {
		switch {
		case x.V == 0 && op == Add:
			return b
		case x.V == 1 && op == Mul:
			return b
		case x.V == 0 && op == Mul:
			return a
		}
	}
	return &Binary{op, a, b}
}

// Un applies a unary operator.
func Un(op UnOp, a Expr) Expr { return &Unary{op, a} }

// CastTo converts e to t; it returns e itself if the type is right already.
func CastTo(t Type, e Expr) Expr {
	if e.Type() == t {
		return e
	}
	return &Cast{t, e}
}

// At loads element idx of b.
func At(b Buffer, idx ...Expr) Expr { return &Load{b.Name, b.Type, idx} }
