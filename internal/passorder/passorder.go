// Package passorder runs tables of graph passes, and checks them: each pass once, and before those
// that build on it.
package passorder

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// A Pass works on an R. Required passes cannot be disabled.
type Pass[R any] struct {
	Name     string
	Doc      string
	Required bool
	// Run may end early, and leave R half done, when its context is done.
	Run func(context.Context, R) error
}

// nodes is a rewriter that yields the nodes of its graph.
type nodes[N any] interface {
	EachNode(ctx context.Context) iter.Seq[N]
}

// VisitNodes returns the Run of a pass that visits the nodes of a graph one by one.
func VisitNodes[R nodes[N], N any](visit func(r R, n N)) func(context.Context, R) error {
	return func(ctx context.Context, r R) error {
		for n := range r.EachNode(ctx) {
			visit(r, n)
		}
		return nil
	}
}

// Names lists the names of passes.
func Names[R any](passes []Pass[R]) []string {
	var out []string
	for _, p := range passes {
		out = append(out, p.Name)
	}
	return out
}

// Run runs the passes on r that are not disabled. observe, if not nil, is called after each. Errors
// are those of the passes and of ctx. It panics if Check finds a fault of the table, which is a
// mistake of its package.
func Run[R any](ctx context.Context, passes []Pass[R], rules [][3]string, r R, disabled []string,
	observe func(pass string)) error {
	if err := Check(Names(passes), rules); err != nil {
		panic("BUG: " + err.Error())
	}
	for _, p := range passes {
		if slices.Contains(disabled, p.Name) {
			continue
		}
		err := p.Run(ctx, r)
		if done := ctx.Err(); done != nil {
			return done
		}
		if err != nil {
			return err
		}
		if observe != nil {
			observe(p.Name)
		}
	}
	return nil
}

// Check returns the fault of passes that run in this order, or nil. A rule says which pass must run
// before which, and why.
func Check(passes []string, rules [][3]string) error {
	for i, p := range passes {
		if slices.Contains(passes[:i], p) {
			return fmt.Errorf("pass %s is listed twice", p)
		}
	}
	for _, r := range rules {
		b, a := slices.Index(passes, r[0]), slices.Index(passes, r[1])
		switch {
		case b < 0 || a < 0 || r[2] == "":
			return fmt.Errorf("rule %q before %q: names no two passes, or no reason", r[0], r[1])
		case b >= a:
			return fmt.Errorf("pass %s must run before %s: %s", r[0], r[1], r[2])
		}
	}
	return nil
}
