package dataflow

import "fmt"

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
		if u.mvu == nil {
			continue
		}
		n, why := u.mvu.prove(u)
		if why != "" {
			return sums, &ProofError{u.Layer, why}
		}
		sums += n
	}
	return sums, nil
}

func (m *MVU) prove(u *Unit) (sums int64, why string) {
	f, acc := u.fold, m.AccBits(u.fold)
	weights, starts := u.ROMs[0], u.ROMs[1]
	scale := m.Step / m.unit()
	fits := func(v int64) bool { return v<<(64-acc)>>(64-acc) == v }
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
	if m.YBits == 0 {
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
