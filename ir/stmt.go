package ir

// Stmt is a statement.
type Stmt interface{ isStmt() }

// LoopKind is the way a loop runs. It never changes the result.
type LoopKind uint8

// Loop kinds.
const (
	Serial LoopKind = iota
	Parallel
	Vectorize
	Unroll
	// Blocks and Threads are loops of devices. Iterations of Blocks never wait for each other.
	// Those of Threads wait at each Barrier between two loops of Threads.
	Blocks
	Threads
)

// String returns the kind's name in .ripir text; Serial is not written.
func (k LoopKind) String() string {
	return [...]string{"serial", "parallel", "vectorize", "unroll", "block", "thread"}[k]
}

// For runs Body with Var = 0 .. Extent-1.
type For struct {
	Var    string
	Extent int
	Kind   LoopKind
	Axis   Axis
	Body   Stmt
}

// WithBody returns l with another body.
func (l *For) WithBody(body Stmt) *For {
	m := *l
	m.Body = body
	return &m
}

// StoreOp combines the stored value with the old element.
type StoreOp uint8

// Store operators.
const (
	Assign StoreOp = iota
	AddTo
	OrTo
	MinTo
	MaxTo
)

// String returns the operator as .ripir writes it.
func (o StoreOp) String() string { return [...]string{"=", "+=", "|=", "min=", "max="}[o] }

// Operator returns the operator that combines the two values; not for Assign.
func (o StoreOp) Operator() BinOp {
	return [...]BinOp{AddTo: Add, OrTo: Or, MinTo: Min, MaxTo: Max}[o]
}

// Store writes one element.
type Store struct {
	Buf string
	Idx []Expr
	Op  StoreOp
	Val Expr
}

// If runs Then where Cond holds, else Else (which may be nil).
type If struct {
	Cond Expr
	Then Stmt
	Else Stmt
}

// Block runs its statements in order.
type Block struct{ Stmts []Stmt }

// Alloc is a buffer that lives in Body.
type Alloc struct {
	Buf  Buffer
	Body Stmt
}

// Barrier stands between loops of Threads: no thread of a block begins the code behind it before
// all threads have done the code in front of it. In a sequential order it does nothing.
type Barrier struct{}

// Comment does nothing. Passes keep it, and it is printed.
type Comment struct{ Text string }

// Call runs an instruction (targets/isa): parameter i of Fn is the window of buffer Args[i].Buf
// that starts at Args[i].Idx and has the parameter's shape in the trailing dimensions.
type Call struct {
	Fn   *Func
	Args []Window
}

// Window is an operand of a Call.
type Window struct {
	Buf string
	Idx []Expr
}

func (*For) isStmt()     {}
func (*Store) isStmt()   {}
func (*If) isStmt()      {}
func (*Block) isStmt()   {}
func (*Alloc) isStmt()   {}
func (*Comment) isStmt() {}
func (*Barrier) isStmt() {}
func (*Call) isStmt()    {}

// Seq makes a Block, flattening nested ones. A single statement is returned itself.
func Seq(ss ...Stmt) Stmt {
	var out []Stmt
	for _, s := range ss {
		switch b := s.(type) {
		case nil:
		case *Block:
			out = append(out, b.Stmts...)
		default:
			out = append(out, s)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return &Block{out}
}

// Loop is one serial loop of a nest, outermost first in Nest.
type Loop struct {
	Var    string
	Extent int
	Axis   Axis
}

// Nest wraps body in serial loops, the first outermost.
func Nest(loops []Loop, body Stmt) Stmt {
	for i := len(loops) - 1; i >= 0; i-- {
		body = &For{Var: loops[i].Var, Extent: loops[i].Extent, Axis: loops[i].Axis, Body: body}
	}
	return body
}
