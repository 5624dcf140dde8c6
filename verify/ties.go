package verify

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/codegen"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/runtime/describe"
)

// TieInputs is the name of the Sets that Ties makes.
const TieInputs = "tie inputs (zeros, small multiples of powers of two, and numbers that stages compare or add)"

// Inputs of fewer floats than enough get several Sets, at most mostSets.
const enough, mostSets = 64, 16

// AdditionalSets returns the contents of p's inputs that p runs on besides the given ones: Hard's
// and Ties'.
func AdditionalSets(p *ir.Program, inputs [][]byte, seed uint64) []Set {
	sets := Ties(p, inputs, seed)
	if hard, ok := Hard(codegen.Describe(codegen.Input{Program: p}).Inputs, inputs, seed); ok {
		sets = append([]Set{hard}, sets...)
	}
	return sets
}

// Ties returns contents on which sums cancel to exactly 0 and roundings meet halves. Floats are
// zeros of both signs, small multiples of powers of two, and numbers at which the stages that read
// them change their results: their constants, half of these, one and a half times these, and where
// a product with one is a half, or with another one added 0. Integers are few of the given ones.
// One Set holds enough numbers unless the inputs are small. Ties depends on its arguments alone.
func Ties(p *ir.Program, inputs [][]byte, seed uint64) []Set {
	r := rand.New(rand.NewPCG(seed, 1))
	count := 1
	fill := make([]func(data []byte), len(inputs))
	for i, t := range codegen.Describe(codegen.Input{Program: p}).Inputs {
		b := p.BufferByName(t.Name)
		if !b.Type.IsFloat() {
			fill[i] = func(data []byte) { repeatFew(data, t, b.Type, r) }
			continue
		}
		fill[i] = newTies(p, b.Buffer, r).fill
		count = max(count, min(mostSets, enough/max(b.Elems(), 1)))
	}
	sets := make([]Set, count)
	for s := range sets {
		sets[s].Name = TieInputs
		for i, data := range inputs {
			data = slices.Clone(data)
			fill[i](data)
			sets[s].Inputs = append(sets[s].Inputs, data)
		}
	}
	return sets
}

// ties draws floats of one input.
type ties struct {
	r        *rand.Rand
	channels int
	// Constants of the stages that read the input: numbers, and tables with channels as the last
	// axis.
	numbers []float32
	tables  [][]float32
	drawn   map[int][]float32 // by element, in earlier Sets
}

func newTies(p *ir.Program, t ir.Buffer, r *rand.Rand) *ties {
	ts := &ties{r: r, channels: 1, drawn: map[int][]float32{}}
	if len(t.Shape) > 0 {
		ts.channels = max(t.Shape[len(t.Shape)-1], 1)
	}
	for _, s := range p.Stages {
		f := p.FuncByName(s.Func)
		if f == nil || !slices.Contains(s.Args, t.Name) {
			continue
		}
		for _, name := range s.Args {
			if b := p.BufferByName(name); b != nil && b.Kind == ir.ConstBuf && b.Type.IsFloat() && len(b.Data) >= 4 {
				ts.tables = append(ts.tables, f32.FromBytes(b.Data))
			}
		}
		for x := range ir.Nodes(f.Body) {
			if k, ok := x.(*ir.FloatImm); ok && k.V != 0 && !slices.Contains(ts.numbers, k.V) {
				ts.numbers = append(ts.numbers, k.V)
			}
		}
	}
	return ts
}

func (ts *ties) fill(data []byte) {
	const tries = 8 // to draw another number than before
	for i := range len(data) / 4 {
		v := ts.draw(i % ts.channels)
		for n := 1; n < tries && slices.Contains(ts.drawn[i], v); n++ {
			v = ts.draw(i % ts.channels)
		}
		if len(data)/4 < enough {
			ts.drawn[i] = append(ts.drawn[i], v)
		}
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
}

// draw returns a number for a channel.
func (ts *ties) draw(channel int) float32 {
	sign := float32(1 - 2*ts.r.IntN(2))
	switch kind := ts.r.IntN(6); {
	case kind == 0:
		return float32(math.Copysign(0, float64(sign)))
	case kind < 5 && len(ts.numbers)+len(ts.tables) > 0:
		if v := ts.turn(channel, sign); math.Abs(float64(v)) >= 0x1p-100 && math.Abs(float64(v)) < 0x1p100 {
			return v
		}
	}
	return sign * float32(1+ts.r.IntN(4)) / float32(int(1)<<ts.r.IntN(4))
}

// turn returns a number at which a stage's result may change.
func (ts *ties) turn(channel int, sign float32) float32 {
	a := ts.constant(channel)
	switch ts.r.IntN(9) {
	case 0, 1:
		return sign * a
	case 2:
		return sign * a / 2
	case 3:
		return sign * a * 1.5
	case 4:
		return sign * 0.5 / a
	case 5:
		return sign * 1.5 / a
	}
	return -ts.constant(channel) / a
}

// constant returns a number, or an element of a table, of the channel if the table has channels.
func (ts *ties) constant(channel int) float32 {
	k := ts.r.IntN(len(ts.numbers) + len(ts.tables))
	if k < len(ts.numbers) {
		return ts.numbers[k]
	}
	table := ts.tables[k-len(ts.numbers)]
	if rows := len(table) / ts.channels; rows*ts.channels == len(table) {
		return table[ts.r.IntN(rows)*ts.channels+channel]
	}
	return table[ts.r.IntN(len(table))]
}

// repeatFew replaces integers by few of them: the least and the largest one, and those next to the
// zero point. Half of a packed tensor's words become 0.
func repeatFew(data []byte, t describe.Tensor, typ ir.Type, r *rand.Rand) {
	size := typ.Bits() / 8
	if t.Packed {
		for word := range slices.Chunk(data, size) {
			if r.IntN(2) == 0 {
				clear(word)
			}
		}
		return
	}
	all := map[int64][]byte{}
	for word := range slices.Chunk(data, size) {
		all[typ.Integer(word)] = slices.Clone(word)
	}
	values, zero := slices.Sorted(maps.Keys(all)), int64(t.ZeroPoint)
	few := slices.DeleteFunc(slices.Clone(values), func(v int64) bool {
		return v != values[0] && v != values[len(values)-1] && (v < zero-1 || v > zero+1)
	})
	for word := range slices.Chunk(data, size) {
		copy(word, all[few[r.IntN(len(few))]])
	}
}
