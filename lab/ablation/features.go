package ablation

import (
	"context"
	"slices"
	"strings"

	"ripc"
	"ripc/compile"
	"ripc/internal/stop"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/lower/layout"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// feature is an optimization that can be on or off.
type feature string

const (
	tiling    feature = "tiling"
	vectorize feature = "vectorize"
	parallel  feature = "parallel"
	popcount  feature = "fast popcount"
	glue      feature = "fused glue"
	packing   feature = "bitpack fusion"
)

// features are those of a target, in the order of Riptide's ladder. Simulated boards run one
// thread.
func features(target string) []feature {
	if target == targets.HostName {
		return []feature{tiling, vectorize, parallel, popcount, glue, packing}
	}
	return []feature{tiling, vectorize, popcount, glue, packing}
}

// description explains the feature on the page.
func (f feature) description() string {
	return map[feature]string{
		tiling: "loops are split, ordered and written out, and sums computed where they are used, in registers " +
			"(all steps that are not named here)",
		vectorize: "steps vectorize",
		parallel:  "steps parallel, and a thread for each core",
		popcount: "sums by the algorithm and the strategy of least estimated cost, with the target's instructions " +
			"for them; off: words, one after the other, and the compiler's popcount",
		glue: "normalization and quantizers in the kernels of convolutions; off: sums go to memory as f32, and " +
			"stages of their own read them there",
		packing: "levels are packed into bit planes by the kernels that make them; off: these write them one a " +
			"byte, and stages of their own pack them",
	}[f]
}

// set is the features that are on.
type set map[feature]bool

func (s set) String() string {
	var on []string
	for _, f := range features(targets.HostName) { // all that there are
		if s[f] {
			on = append(on, string(f))
		}
	}
	if on == nil {
		return "nothing"
	}
	return strings.Join(on, " + ")
}

// step is a set, and the feature that was added or left out; "" for none.
type step struct {
	of feature
	on set
}

func setOf(fs ...feature) set {
	s := set{}
	for _, f := range fs {
		s[f] = true
	}
	return s
}

// ladder adds one feature after the other.
func ladder(target string) []step {
	all := features(target)
	steps := []step{{on: set{}}}
	for i, f := range all {
		steps = append(steps, step{f, setOf(all[:i+1]...)})
	}
	return steps
}

// leaveOneOut leaves each feature out.
func leaveOneOut(target string) (steps []step) {
	for _, f := range features(target) {
		steps = append(steps, step{f, setOf(slices.DeleteFunc(features(target), func(g feature) bool {
			return g == f
		})...)})
	}
	return steps
}

// options compile a model with the features of s.
func (s set) options(ctx context.Context, path, target string) (_ ripc.Options, err error) {
	defer stop.Catch(&err)
	o := ripc.Options{Target: target, PackApart: !s[packing]}
	g := stop.Must(ripc.Load(ctx, path))
	o.Algorithms = map[string]layout.Algorithm{}
	for _, n := range g.Nodes {
		if n.Op != "bitserial_conv2d" && n.Op != "bitserial_dense" {
			continue
		}
		if !s[glue] { // outputs of the network are not folded
			o.Import.End = append(o.Import.End, n.Output)
		}
		if !s[popcount] {
			o.Algorithms[n.Name] = layout.Popcount
		}
	}
	if !s[glue] {
		for _, out := range g.Outputs {
			if !slices.Contains(o.Import.End, out) {
				o.Import.End = append(o.Import.End, out)
			}
		}
	}
	if s[tiling] && s[vectorize] && s[popcount] { // threads are the caller's
		return o, nil
	}
	c := stop.Must(ripc.Compile(ctx, path, o))
	for _, f := range c.Program.Funcs {
		t := stop.Must(s.trace(f, c.Target))
		o.Schedules = append(o.Schedules, schedule.Section{Name: f.Name, Trace: t})
	}
	return o, nil
}

// trace is the schedule of f: that of its strategy, without the steps of features that are off, and
// without those that need these: that cannot be done without them, or leave a Func without proof.
func (s set) trace(f *ir.Func, t targets.Target) (schedule.Trace, error) {
	choice, err := s.choice(f, t)
	if err != nil {
		return nil, err
	}
	kept := schedule.Trace{}
	for _, st := range choice.Trace {
		if !s[featureOf(st.Op)] {
			continue
		}
		next, err := (schedule.Trace{st}).ApplyAll(f, schedule.WithInstrs(isa.For(t)))
		if err == nil && arith.VerifyBounds(next.Func) == nil && arith.VerifyWidths(next.Func) == nil {
			f, kept = next.Func, append(kept, st)
		}
	}
	return kept, nil
}

// choice is the default schedule or, without popcount, the one of the plain strategies.
func (s set) choice(f *ir.Func, t targets.Target) (strategy.Choice, error) {
	if !s[popcount] {
		for _, st := range strategy.For(strategy.LayerOf(f, t)) {
			if slices.Contains([]string{"words", "float", "plain"}, st.Name) {
				if c, err := st.Build(strategy.LayerOf(f, t), nil); err == nil {
					return c, nil
				}
			}
		}
	}
	return compile.Default(f, t)
}

// featureOf says which feature steps of a name are of.
func featureOf(op string) feature {
	switch op {
	case "vectorize":
		return vectorize
	case "parallel":
		return parallel
	case "tensorize", "carry_save", "pair", "set_encoding", "replicate", "rfactor", "narrow_accumulate":
		return popcount
	}
	return tiling
}
