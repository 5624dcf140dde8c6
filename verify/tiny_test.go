package verify_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"ripc/ir"
)

// The shapes of tiny.
const (
	rows    = 2
	words   = 4 // of an input row: 128 bits
	hidden  = 64
	classes = 10
)

func store(buf string, op ir.StoreOp, v ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: buf, Idx: idx, Op: op, Val: v}
}

func loop(v string, n int, kind ir.LoopKind, body ...ir.Stmt) ir.Stmt {
	return &ir.For{Var: v, Extent: n, Kind: kind, Body: ir.Seq(body...)}
}

func buffer(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

// bipolar is a buffer of packed bits, the last dimension in words.
func bipolar(name string, shape ...int) ir.Buffer {
	b := buffer(name, ir.U32, shape...)
	b.Enc = ir.Encoding{Kind: ir.Bipolar, Channels: 32 * shape[len(shape)-1]}
	return b
}

// dot adds up the bits in which row m of x and row o of w differ.
func dot(x, w ir.Buffer, n int, o ir.Expr, kind ir.LoopKind, op ir.BinOp) ir.Stmt {
	k := ir.V("k")
	bits := ir.Un(ir.Popcount, &ir.Binary{Op: op, A: ir.At(x, ir.Int(0), ir.V("m"), k), B: ir.At(w, ir.Int(0), o, k)})
	return ir.Seq(store("acc", ir.Assign, ir.Const(ir.I32, 0)), loop("k", n, kind, store("acc", ir.AddTo, ir.CastTo(ir.I32, bits))))
}

// score is the dot product of n words of +-1 of which acc differ.
func score(n int) ir.Expr {
	return ir.Bin(ir.Sub, ir.Const(ir.I32, int64(32*n)), ir.Bin(ir.Mul, ir.Const(ir.I32, 2), ir.At(buffer("acc", ir.I32))))
}

// binarize is a layer with thresholds: y's bit o is set where the score is at least t[o].
func binarize(outer, inner ir.LoopKind) *ir.Func {
	x, w, t, y := bipolar("x", 1, rows, words), bipolar("w", 1, hidden, words), buffer("t", ir.I32, hidden), bipolar("y", 1, rows, hidden/32)
	o := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("ow"), ir.Int(32)), ir.V("ob"))
	bit := &ir.Select{Cond: ir.Bin(ir.Ge, score(words), ir.At(t, o)),
		A: ir.Bin(ir.Shl, ir.Const(ir.U32, 1), ir.CastTo(ir.U32, ir.V("ob"))), B: ir.Const(ir.U32, 0)}
	at := []ir.Expr{ir.Int(0), ir.V("m"), ir.V("ow")}
	body := &ir.Alloc{Buf: buffer("acc", ir.I32), Body: ir.Seq(dot(x, w, words, o, inner, ir.Xor), store("y", ir.OrTo, bit, at...))}
	return &ir.Func{Name: "binarize", Params: []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: t}, {Buffer: y, Out: true}},
		Body: loop("m", rows, outer, loop("ow", hidden/32, ir.Serial,
			store("y", ir.Assign, ir.Const(ir.U32, 0), at...), loop("ob", 32, ir.Serial, body)))}
}

// dense gives the scores themselves; op is Xor unless a mistake is wanted.
func dense(outer, inner ir.LoopKind, op ir.BinOp) *ir.Func {
	x, w, y := bipolar("x", 1, rows, hidden/32), bipolar("w", 1, classes, hidden/32), buffer("y", ir.I32, rows, classes)
	body := &ir.Alloc{Buf: buffer("acc", ir.I32), Body: ir.Seq(dot(x, w, hidden/32, ir.V("o"), inner, op),
		store("y", ir.Assign, score(hidden/32), ir.V("m"), ir.V("o")))}
	return &ir.Func{Name: "dense", Params: []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: y, Out: true}},
		Body: loop("m", rows, outer, loop("o", classes, ir.Serial, body))}
}

// scale writes x*s to the columns of y from first on.
func scale(name string, first int, outer ir.LoopKind) *ir.Func {
	x, s, y := buffer("x", ir.I32, rows, classes), buffer("s", ir.F32, classes), buffer("y", ir.F32, rows, 2*classes)
	v := ir.Bin(ir.Mul, ir.CastTo(ir.F32, ir.At(x, ir.V("m"), ir.V("o"))), ir.At(s, ir.V("o")))
	return &ir.Func{Name: name, Params: []ir.Param{{Buffer: x}, {Buffer: s}, {Buffer: y, Out: true}},
		Body: loop("m", rows, outer, loop("o", classes, ir.Serial, store("y", ir.Assign, v, ir.V("m"), ir.Bin(ir.Add, ir.Int(first), ir.V("o")))))}
}

// tiny is a network of four stages: bits to bits by thresholds, bits to scores, and twice scores to one half of the
// output, which has NaNs in it. Its schedule changes kinds of loops only.
func tiny(scheduled bool, op ir.BinOp) *ir.Program {
	outer, inner := ir.Serial, ir.Serial
	if scheduled {
		outer, inner = ir.Parallel, ir.Unroll
	}
	r := rand.New(rand.NewPCG(1, 2))
	constant := func(b ir.Buffer, element func(i int) uint32) ir.ProgBuf {
		q := ir.ProgBuf{Buffer: b, Kind: ir.ConstBuf}
		for i := range b.Elems() {
			q.Data = binary.LittleEndian.AppendUint32(q.Data, element(i))
		}
		return q
	}
	random := func(int) uint32 { return r.Uint32() }
	return &ir.Program{
		Name: "tiny", Arena: 192,
		Buffers: []ir.ProgBuf{
			{Buffer: bipolar("x", 1, rows, words), Kind: ir.InputBuf},
			constant(bipolar("w1", 1, hidden, words), random),
			constant(buffer("t1", ir.I32, hidden), func(i int) uint32 {
				if i == 5 {
					return 200 // no score is that high
				}
				return uint32(r.IntN(21) - 10)
			}),
			{Buffer: bipolar("h", 1, rows, hidden/32), Kind: ir.ArenaBuf, Offset: 128},
			constant(bipolar("w2", 1, classes, hidden/32), random),
			{Buffer: buffer("z", ir.I32, rows, classes), Kind: ir.ArenaBuf, Offset: 0},
			constant(buffer("s", ir.F32, classes), func(i int) uint32 {
				if i == 3 {
					return math.Float32bits(float32(math.NaN())) | 77
				}
				return math.Float32bits(float32(i) / 3)
			}),
			{Buffer: buffer("y", ir.F32, rows, 2*classes), Kind: ir.OutputBuf},
		},
		Funcs: []*ir.Func{binarize(outer, inner), dense(outer, inner, op), scale("left", 0, outer), scale("right", classes, outer)},
		Stages: []ir.Stage{
			{Name: "fire/bits", Op: "dense", Func: "binarize", Args: []string{"x", "w1", "t1", "h"}},
			{Name: "fire/scores", Op: "dense", Func: "dense", Args: []string{"h", "w2", "z"}},
			{Name: "out/left", Op: "scale", Func: "left", Args: []string{"z", "s", "y"}},
			{Name: "out/right", Op: "scale", Func: "right", Args: []string{"z", "s", "y"}},
		},
	}
}

// picture is an input for tiny.
func picture() [][]byte {
	r, x := rand.New(rand.NewPCG(3, 4)), make([]byte, 4*rows*words)
	for i := range x {
		x[i] = byte(r.Uint32())
	}
	return [][]byte{x}
}
