package plan

import (
	"cmp"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/deps"
)

// InPlace is Arena that also lets a stage write its output over an input that no later stage reads.
// deps.InPlace must prove of the scheduled Func that this is safe. New Funcs with such parameters
// (ir.Param) replace those of p. It takes no more memory than Arena.
func InPlace(p *ir.Program) int64 {
	plain := lives(p, nil)
	size := arrange(plain, len(p.Stages))
	pairs := pairs(p)
	if len(pairs) == 0 {
		settle(plain)
		return size
	}
	shared := lives(p, pairs)
	n := arrange(shared, len(p.Stages))
	if n > size {
		settle(plain)
		return size
	}
	settle(shared)
	over := map[string]map[int]int{} // by Func, the input of each output
	for _, q := range pairs {
		if over[q.fn] == nil {
			over[q.fn] = map[int]int{}
		}
		over[q.fn][q.k] = q.j
	}
	p.Funcs = slices.Clone(p.Funcs)
	for i, f := range p.Funcs {
		if len(over[f.Name]) == 0 {
			continue
		}
		g := *f
		g.Params = slices.Clone(f.Params)
		for k, j := range over[f.Name] {
			g.Params[k].Over = f.Params[j].Name
		}
		p.Funcs[i] = &g
	}
	return n
}

// pair is an output that lies where an input of its stage does.
type pair struct {
	in, out string
	overlay
}

// overlay is an output of the Func fn over an input: arguments k and j.
type overlay struct {
	fn   string
	k, j int
}

// pairs are the outputs that stages of p can write over inputs, in the order of the stages. All
// stages of a Func write an output over the same input: the one that saves most.
func pairs(p *ir.Program) []pair {
	funcs := map[string]*ir.Func{}
	for _, f := range p.Funcs {
		funcs[f.Name] = f
	}
	ends := ending(p)
	saved := map[overlay]int64{} // 0 where it is not legal
	for _, q := range ends {
		f, o := funcs[q.fn], q.overlay
		out, in := f.Params[q.k], f.Params[q.j]
		n, known := saved[o]
		if legal := known && n > 0 || !known && out.Out && !in.Out && deps.InPlace(f, out.Name, in.Name) == nil; legal {
			n += int64(out.Bytes())
		}
		saved[o] = n
	}
	most := func(a, b overlay) int {
		return cmp.Or(cmp.Compare(saved[b], saved[a]), cmp.Compare(a.fn, b.fn), cmp.Compare(a.k, b.k),
			cmp.Compare(a.j, b.j))
	}
	chosen, taken := map[overlay]bool{}, map[overlay]bool{}
	for _, o := range slices.SortedFunc(maps.Keys(saved), most) {
		out, in := overlay{o.fn, o.k, -1}, overlay{o.fn, -1, o.j}
		if saved[o] > 0 && !taken[out] && !taken[in] {
			chosen[o], taken[out], taken[in] = true, true, true
		}
	}
	return slices.DeleteFunc(ends, func(q pair) bool { return !chosen[q.overlay] })
}

// ending returns the pairs of a buffer with a life in the arena that begins at a stage, and one of
// the same size with a life that ends there. Each is one argument of the stage.
func ending(p *ir.Program) []pair {
	byName := map[string]*life{}
	for _, l := range lives(p, nil) {
		byName[l.bufs[0].Name] = l
	}
	var all []pair
	for i, s := range p.Stages {
		count := map[string]int{}
		for _, a := range s.Args {
			count[a]++
		}
		for k, a := range s.Args {
			out := byName[a]
			if out == nil || out.first != i || count[a] > 1 {
				continue
			}
			for j, b := range s.Args {
				in := byName[b]
				if in != nil && in.last == i && in.first < i && in.bufs[0].Bytes() == out.bufs[0].Bytes() &&
					count[b] == 1 {
					all = append(all, pair{b, a, overlay{s.Func, k, j}})
				}
			}
		}
	}
	return all
}
