package dataflow

import (
	"math/rand/v2"
	"slices"
)

// Mutant is a design with one change.
type Mutant struct {
	*Design
	Layer   string      // that it changes
	Undo    func()      // the change
	Matters func() bool // some input shows the change
}

// Mutants draws a change of a kind; nil if the unit drawn has none.
func (d *Design) Mutants() map[string]func(r *rand.Rand) *Mutant {
	pick := func(r *rand.Rand, has func(u *Unit) bool) *Unit {
		all := slices.DeleteFunc(slices.Clone(d.Units), func(u *Unit) bool { return !has(u) })
		return all[r.IntN(len(all))]
	}
	isMVU := func(u *Unit) bool { return u.mvu != nil }
	always := func() bool { return true }
	// flip changes a bit of memory k of u.
	flip := func(r *rand.Rand, u *Unit, k int) *Mutant {
		w := r.IntN(len(u.ROMs[k].Words))
		word := u.ROMs[k].Words[w]
		at := r.IntN(len(word.Fields))
		old, matters := word.Fields[at], always
		word.Fields[at] ^= 1 << r.IntN(word.Width)
		if u.mvu != nil && k > 0 {
			row := w%u.Int("NB")*u.fold.PE + at*u.fold.PE/len(word.Fields)
			matters = func() bool { return u.differs(row, row+1) }
		}
		return &Mutant{d, u.Layer, func() { word.Fields[at] = old }, matters}
	}
	return map[string]func(r *rand.Rand) *Mutant{
		"weight": func(r *rand.Rand) *Mutant { return flip(r, pick(r, isMVU), 0) },
		"start":  func(r *rand.Rand) *Mutant { return flip(r, pick(r, isMVU), 1) },
		"bit": func(r *rand.Rand) *Mutant {
			u := pick(r, func(u *Unit) bool { return len(u.ROMs) > 0 })
			return flip(r, u, r.IntN(len(u.ROMs)))
		},
		"threshold": func(r *rand.Rand) *Mutant {
			u := pick(r, func(u *Unit) bool { return u.mvu != nil && u.mvu.YBits > 0 })
			row := u.mvu.Thresholds[r.IntN(len(u.mvu.Thresholds))]
			o, old, roms := r.IntN(len(row)), int32(0), u.ROMs
			old, row[o] = row[o], row[o]+int32(1+r.IntN(4))*int32(1-2*r.IntN(2))
			u.ROMs = u.mvu.roms(u.fold, u.Int("AW"))
			row[o] = old
			return &Mutant{d, u.Layer, func() { u.ROMs = roms }, func() bool { return u.differs(o, o+1) }}
		},
		"width": func(r *rand.Rand) *Mutant {
			u, roms := pick(r, isMVU), []ROM(nil)
			roms = u.ROMs
			name := []string{"AW", "CW"}[r.IntN(2)]
			at := slices.IndexFunc(u.Params, func(p Param) bool { return p.Name == name })
			old := u.Int(name)
			u.Params[at].Value = old - 1
			u.ROMs = u.mvu.roms(u.fold, u.Int("AW"))
			return &Mutant{d, u.Layer, func() { u.Params[at].Value, u.ROMs = old, roms },
				func() bool { return u.differs(0, u.mvu.Conv.Out) }}
		},
		"FIFO": func(r *rand.Rand) *Mutant {
			const slack = 3
			u := pick(r, func(u *Unit) bool { return u.Module == "fifo" && u.Int("D") > slack })
			old := u.Params[1].Value
			u.Params[1].Value = 1 + r.IntN(old.(int)-slack)
			return &Mutant{d, "", func() { u.Params[1].Value = old }, always}
		},
	}
}

// differs reports whether u makes another level than its layer of any sum of the rows, in the widths that it has.
func (u *Unit) differs(first, behind int) bool {
	m, acc, step := u.mvu, u.Int("AW"), u.Int("CW")
	wrap := func(v int64, bits int) int64 { return v << (64 - bits) >> (64 - bits) }
	for o := first; o < behind; o++ {
		for s := range slices.Chunk(m.Weights[o], u.fold.SIMD) { // the ends of the sums of a cycle
			top, ends := int64(1)<<m.XBits-1, [2]int64{}
			for _, w := range s {
				if m.WBits == 1 {
					w = 1
				}
				ends[0], ends[1] = ends[0]+min(0, w)*top, ends[1]+max(0, w)*top
			}
			if wrap(ends[0], step) != ends[0] || wrap(ends[1], step) != ends[1] {
				return true
			}
		}
		block, p := o/u.fold.PE, o%u.fold.PE
		var offsets [][]int64
		for b, r := range u.ROMs[2:] {
			var row []int64
			for known := range 2 << b {
				row = append(row, r.Field(block, p<<(b+1)+known, true))
			}
			offsets = append(offsets, row)
		}
		for k := range m.Border {
			start := u.ROMs[1].Field(k*m.Blocks(u.fold)+block, p, true)
			for a := m.Lo[o]; a <= m.Hi[o]; a++ {
				if m.engineLevel(wrap(start+m.Step/m.unit()*a, acc), offsets) != m.definedLevel(o, k, a) {
					return true
				}
			}
		}
	}
	return false
}
