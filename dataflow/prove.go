package dataflow

import (
	"fmt"
	"math"
	"slices"
)

// ProofError says that an engine would make something else than its layer.
type ProofError struct{ Layer, Why string }

func (e *ProofError) Error() string { return fmt.Sprintf("layer %s: %s", e.Layer, e.Why) }

// Prove decodes the memories of every engine. It shows for each row and each class of positions
// that the engine, in its own widths, makes the definition's level of every sum. It returns the
// number of sums, or fails with *ProofError.
//
// An engine's level changes only where the accumulator passes zero or an offset, and the definition
// rises with the sum. So the sums at both ends of every stretch between such places stand for all.
func (d *Design) Prove() (sums int64, err error) {
	for _, u := range d.Units {
		if u.prove == nil {
			continue
		}
		n, why := u.prove()
		if why != "" {
			return sums, &ProofError{u.Layer, why}
		}
		sums += n
	}
	if layer, why := d.proveFIFOs(); why != "" {
		return sums, &ProofError{layer, why}
	}
	return sums, nil
}

// windowStart is the number of pixels that an engine is late beside those that it waits for.
const windowStart = 3

// proveFIFOs shows that FIFOs are deep enough to keep the pace. One before an engine that reads a
// vector several times holds a vector. Where ways meet, it holds the pixels by which the windows of
// the other ways lag. A window lags by the pixels that its first output needs.
func (d *Design) proveFIFOs() (layer, why string) {
	depth, lag := map[string]int{}, map[string]int{} // of the FIFO behind which a stream is, in elements; in pixels
	for _, u := range d.Units {
		most, more, own, late := 0, 0, 0, 0
		for _, x := range u.In {
			most = max(most, lag[x.Name])
		}
		need := func(x *Stream, elements int) {
			if depth[x.Name] < elements && why == "" {
				layer, why = u.Layer, fmt.Sprintf("a FIFO holds %d elements, want %d", depth[x.Name], elements)
			}
		}
		switch u.Module {
		case "fifo", "dwc":
			own = depth[u.In[0].Name] + u.Int("D")*u.In[0].Lanes
		case "mvu":
			if late = windowStart; !u.mvu.Windowed() && u.Int("NF") > 1 {
				need(u.In[0], u.Int("SF")*u.In[0].Lanes)
			}
		case "window":
			late = max(0, (u.Int("KY")-1)*u.Int("DY")-u.Int("PT"))*u.Int("IX") +
				max(0, (u.Int("KX")-1)*u.Int("DX")-u.Int("PL")) + windowStart
		case "pool":
			late = (u.Int("KY")-1)*u.Int("IX") + u.Int("KX") - 1 + windowStart
		case "cat":
			more, own = 1, math.MaxInt
			for _, x := range u.In { // the pixels that wait before it wait for a further one, too
				own = min(own, depth[x.Name]/x.C*u.Out[0].C)
			}
			fallthrough
		case "addl", "pair":
			for _, x := range u.In {
				need(x, (most-lag[x.Name]+more)*x.C)
			}
		}
		for _, y := range u.Out {
			depth[y.Name], lag[y.Name] = own, most+late
		}
	}
	return layer, why
}

func (m *MVU) prove(u *Unit) (sums int64, why string) {
	f, acc := u.fold, u.Int("AW")
	weights, starts := u.ROMs[0], u.ROMs[1]
	scale := m.Step / m.unit()
	fits := func(v int64) bool { return v<<(64-acc)>>(64-acc) == v }
	least, most := m.stepRange(f)
	if n := u.Int("CW"); least < -1<<(n-1) || most >= 1<<(n-1) {
		return 0, fmt.Sprintf("%d bits are too few for the sums of a cycle, %d to %d", n, least, most)
	}
	for _, r := range u.ROMs[1:] {
		if r.Words[0].Width != acc {
			return 0, fmt.Sprintf("a memory has numbers of %d bits, want %d", r.Words[0].Width, acc)
		}
	}
	for o := range m.Conv.Out {
		block, p := o/f.PE, o%f.PE
		for i, want := range m.Weights[o] {
			got := weights.Field(block*m.Steps(f)+i/f.SIMD, p*f.SIMD+i%f.SIMD, m.WBits > 1)
			if m.WBits == 1 {
				got = 2*got - 1
			}
			if got != want {
				return sums, fmt.Sprintf("weight %d of row %d is %d in memory, want %d", i, o, got, want)
			}
		}
		var offsets [][]int64 // by bit of the level, and the bits before it
		for b, r := range u.ROMs[2:] {
			var row []int64
			for known := range 2 << b {
				row = append(row, r.Field(block, p<<(b+1)+known, true))
			}
			offsets = append(offsets, row)
		}
		for k := range m.Border {
			start := starts.Field(k*m.Blocks(f)+block, p, true)
			if !fits(start+scale*m.Lo[o]) || !fits(start+scale*m.Hi[o]) {
				return sums, fmt.Sprintf("row %d, class %d: %d bits are too few for its sums", o, k, acc)
			}
			sums += m.Hi[o] - m.Lo[o] + 1
			ends := []int64{m.Lo[o], m.Hi[o]}
			places := []int64{0}
			for _, row := range offsets {
				places = append(places, row...)
			}
			for _, at := range places { // the accumulator's value there, as a sum
				a := floorDiv(at-start, scale)
				ends = append(ends, a-1, a, a+1)
			}
			for _, a := range ends {
				if a < m.Lo[o] || a > m.Hi[o] {
					continue
				}
				got, want := m.engineLevel(start+scale*a, offsets), m.definedLevel(o, k, a)
				if got != want {
					return sums, fmt.Sprintf("row %d, class %d: sum %d becomes %d, want %d", o, k, a, got, want)
				}
			}
		}
	}
	return sums, ""
}

// stepRange is the range of sums that one cycle adds to an accumulator.
func (m *MVU) stepRange(f Fold) (least, most int64) {
	top := int64(1)<<m.XBits - 1
	if m.WBits == 1 {
		return 0, int64(f.SIMD) * top
	}
	for _, row := range m.Weights {
		for step := range slices.Chunk(row, f.SIMD) {
			lo, hi := int64(0), int64(0)
			for _, w := range step {
				lo, hi = lo+min(0, w)*top, hi+max(0, w)*top
			}
			least, most = min(least, lo), max(most, hi)
		}
	}
	return least, most
}

// engineLevel is the level that the engine makes of an accumulator.
func (m *MVU) engineLevel(acc int64, offsets [][]int64) int64 {
	if m.YBits == 0 {
		return acc
	}
	level := 0
	if acc >= 0 {
		level = 1
	}
	for _, row := range offsets {
		bit := 0
		if acc >= row[level] {
			bit = 1
		}
		level = level<<1 | bit
	}
	return int64(level)
}

// definedLevel is the level that the definition makes of A = a of row o in class k.
func (m *MVU) definedLevel(o, k int, a int64) int64 {
	s := m.Step*a + m.K[o] + m.Border[k][o]
	switch {
	case m.whole:
		return s
	case m.YBits == 0:
		return (s - m.K[o]) / m.unit()
	}
	return int64(m.rule.level(o, m.sign(o)*s))
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
