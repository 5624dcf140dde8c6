package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/ir/interp"
	"ripc/schedule"
)

// Tally is the number of claims by their origin.
type Tally map[string]int

// Sum is the number of all claims.
func (t Tally) Sum() int {
	n := 0
	for _, k := range t {
		n += k
	}
	return n
}

// Add adds the claims of u.
func (t Tally) Add(u Tally) {
	for k, n := range u {
		t[k] += n
	}
}

// String lists them by name.
func (t Tally) String() string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(t)) {
		all = append(all, fmt.Sprintf("%s %d", k, t[k]))
	}
	return strings.Join(all, ", ")
}

// False is a claim that does not hold.
type False struct {
	Case  uint64 // its number
	Claim string // its origin, as in a Tally
	Msg   string
	Text  string // the Func
}

// Error shows the claim with the Func that it is about.
func (e *False) Error() string {
	return fmt.Sprintf("case %d: %s: %s\n%s", e.Case, e.Claim, e.Msg, e.Text)
}

// inputs is the number of contents of the parameters that a Func is run on.
const inputs = 8

// Case makes the claims of one case, about expressions if its number is even and about a Func if it
// is odd. It fails with *False.
func Case(ctx context.Context, number uint64) (Tally, error) {
	j := &judge{ctx: ctx, number: number, draw: newDraw(number), claims: Tally{}}
	if number%2 == 0 {
		j.expressions()
	} else {
		j.function()
	}
	return j.claims, j.err
}

type judge struct {
	ctx    context.Context
	number uint64
	draw   *draw
	claims Tally
	err    error
}

// fail notes that a claim of about does not hold.
func (j *judge) fail(claim string, about *ir.Func, format string, args ...any) {
	if j.err == nil {
		j.err = &False{j.number, claim, fmt.Sprintf(format, args...), about.String()}
	}
}

// function judges a Func, and the results of schedule steps on it.
func (j *judge) function() {
	f := j.draw.function()
	if err := ir.Verify(f); err != nil {
		j.fail("the judge itself", f, "%v", err)
		return
	}
	var contents [][][]byte
	for range inputs {
		contents = append(contents, j.draw.contents(f))
	}
	j.proofs(f, contents)
	for range 6 {
		text := j.draw.step(f)
		s, err := schedule.ParseStep(text)
		if err != nil {
			j.fail("the judge itself", f, "%s: %v", text, err)
			return
		}
		r, err := schedule.Trace{s}.ApplyAll(f)
		if err != nil || j.err != nil || difftest.Iterations(r.Func.Body) > 1<<12 {
			continue
		}
		j.step(text, f, r, contents)
		f = r.PackingFunc()
	}
}

// step judges the result of a step on f.
func (j *judge) step(text string, f *ir.Func, r schedule.Result, contents [][][]byte) {
	claim := "step " + strings.Fields(text)[0]
	j.claims[claim]++
	if err := ir.Verify(r.Func); err != nil {
		j.fail(claim, f, "%s leaves a Func that is not well-formed: %v\n%s", text, err, r.Func)
		return
	}
	g := r.PackingFunc()
	for _, in := range contents {
		want, err := j.run(f, in, interp.Checks{Reads: true})
		if err != nil {
			continue
		}
		got, err := j.run(g, in, interp.Checks{Reads: true})
		if err != nil {
			j.fail(claim, f, "%s: inputs %v: %v in\n%s", text, in, err, g)
		} else if !equalBytes(want, got) {
			j.fail(claim, f, "%s: inputs %v: %v became %v in\n%s", text, in, want, got, g)
		}
	}
	j.proofs(g, contents)
}

// proofs judges the claims about f.
func (j *judge) proofs(f *ir.Func, contents [][][]byte) {
	var results [][][]byte // nil where f is undefined
	outside := map[string]string{}
	wraps := ""
	for _, in := range contents {
		out, err := j.run(f, in, interp.Checks{Reads: true})
		var e *interp.RuntimeError
		if errors.As(err, &e) && e.What == interp.Outside {
			outside[e.Buf] = fmt.Sprintf("inputs %v: %v", in, err)
		}
		results = append(results, out)
		if _, err := j.run(f, in, interp.All()); errors.As(err, &e) && e.What == interp.Wraps {
			wraps = fmt.Sprintf("inputs %v: %v", in, err)
		}
	}
	for _, b := range slices.Sorted(maps.Keys(f.Buffers())) {
		if arith.VerifyBoundsOf(f, b) != nil {
			continue
		}
		j.claims["bounds"]++
		if outside[b] != "" {
			j.fail("bounds", f, "of %%%s: %s", b, outside[b])
		}
	}
	if arith.VerifyWidths(f) == nil {
		j.claims["widths"]++
		if wraps != "" {
			j.fail("widths", f, "%s", wraps)
		}
	}
	j.kinds(f, contents, results)
	j.inPlace(f, contents, results)
}

// kinds judges the kinds of f's loops: any order of lanes and threads gives the same.
func (j *judge) kinds(f *ir.Func, contents, results [][][]byte) {
	lanes, parallel := false, false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok {
			lanes, parallel = lanes || l.Kind == ir.Vectorize, parallel || l.Kind == ir.Parallel
		}
		return true
	})
	if !lanes && !parallel || deps.Check(f) != nil {
		return
	}
	j.claims["kinds of loops"]++
	orders := map[string][]*ir.Func{"backwards": {difftest.Backwards(f)}, "in lockstep": {lockstep(f)}}
	if parallel {
		first, second := threads(f, 0), threads(f, 1)
		orders["by two threads"], orders["by two threads, the last one first"] = []*ir.Func{first, second},
			[]*ir.Func{second, first}
	}
	for name, runs := range orders {
		for i, in := range contents {
			if results[i] == nil {
				continue
			}
			got := in
			var err error
			for _, g := range runs {
				if err == nil {
					got, err = j.run(g, got, interp.Checks{Reads: true})
				}
			}
			if err != nil {
				j.fail("kinds of loops", f, "%s: inputs %v: %v", name, in, err)
			} else if !equalBytes(results[i], got) {
				j.fail("kinds of loops", f, "%s: inputs %v: %v became %v", name, in, results[i], got)
			}
		}
	}
}

// inPlace judges outputs that may lie over inputs.
func (j *judge) inPlace(f *ir.Func, contents, results [][][]byte) {
	for o, out := range f.Params {
		for k, in := range f.Params {
			if !out.Out || in.Out || !ir.SamePlaces(out.Buffer, in.Buffer) ||
				deps.InPlace(f, out.Name, in.Name) != nil {
				continue
			}
			j.claims["in place"]++
			c, err := interp.CompileChecked(f)
			if err != nil {
				j.fail("the judge itself", f, "%v", err)
				return
			}
			for i, args := range contents {
				if results[i] == nil {
					continue
				}
				// The output begins as the input here. These contents must not matter, so both runs
				// begin alike.
				begin := clone(args)
				copy(begin[o], begin[k])
				want, err := j.run(f, begin, interp.Checks{Reads: true})
				if err != nil {
					continue
				}
				begin[o] = begin[k]
				if err := c.Run(j.ctx, begin); err != nil || !bytes.Equal(begin[o], want[o]) {
					j.fail("in place", f, "%%%s over %%%s: inputs %v: %v became %v, %v", out.Name, in.Name, args,
						want[o], begin[o], err)
				}
			}
		}
	}
}

// run gives f's parameters after f, nil if f is undefined.
func (j *judge) run(f *ir.Func, in [][]byte, checks interp.Checks) ([][]byte, error) {
	c, err := interp.CompileWith(f, checks)
	if err != nil {
		return nil, err
	}
	args := clone(in)
	if err := c.Run(j.ctx, args); err != nil {
		return nil, err
	}
	return args, nil
}

func clone(args [][]byte) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = append(make([]byte, 0, (len(a)+7)/8*8), a...)
	}
	return out
}

func equalBytes(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
