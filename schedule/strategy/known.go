package strategy

import (
	"sync"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/targets"
	"ripc/targets/isa"
)

// known applies steps to what became of one Func, and keeps the last results: schedules of a layer begin alike, so that
// more than half of the steps that a tuner asks for are known. It may be used by several goroutines.
type known struct {
	instrs  map[string]*ir.Func
	applied recent[application, applied]
	sizes   recent[*ir.Func, int]
	judged  recent[*ir.Func, error]
	knobs   recent[string, []Knob] // by strategy
	blocks  recent[int, *ir.Func]  // the layer's Func, whose channels are in blocks of n
}

func newKnown(t targets.Target) *known { return &known{instrs: isa.For(t)} }

// application is a step, as text, to a Func. Funcs are not changed, so each is itself as long as it is known.
type application struct {
	f    *ir.Func
	step string
}

// applied is what an application came to.
type applied struct {
	schedule.Result
	err error
}

// apply applies a step.
func (k *known) apply(f *ir.Func, s schedule.Step) applied {
	return k.applied.get(application{f, s.String()}, func() applied {
		r, err := schedule.Trace{s}.ApplyAll(f, schedule.WithInstrs(k.instrs))
		return applied{r, err}
	})
}

// size is size.Of f's body.
func (k *known) size(f *ir.Func) int {
	return k.sizes.get(f, func() int { return size.Of(f.Body) })
}

// judge says why no code can be made of what became of the Func from: too much of it, as far as that can be estimated, or sums that cannot
// be shown to fit; nil if it can. A third of the points of a space end with the schedule of another.
func (k *known) judge(from, f *ir.Func) error {
	return k.judged.get(f, func() error {
		if err := size.Check(from.Body, f.Body); err != nil {
			return err
		}
		return arith.VerifyWidths(f)
	})
}

// recent keeps values that were asked for lately. The zero value has none.
type recent[K comparable, V any] struct {
	mu sync.Mutex
	// young and old have what is known. A full young one becomes the old one; what that had and nobody asked for since is forgotten.
	young, old map[K]V
}

// most is how many values are young, the largest of which, Funcs, have some ten kilobytes each.
const most = 1024

// get gives the value of k, which is what made returns each time. Of those that ask at once all get the same one, so that what is known of
// it is known to all.
func (r *recent[K, V]) get(k K, made func() V) V {
	r.mu.Lock()
	v, young := r.young[k]
	known := young
	if !young {
		v, known = r.old[k]
	}
	r.mu.Unlock()
	if young {
		return v
	}
	if !known {
		v = made()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.young[k]; ok {
		return first
	}
	if first, ok := r.old[k]; ok {
		v = first
	}
	if r.young == nil || len(r.young) >= most {
		r.young, r.old = map[K]V{}, r.young
	}
	r.young[k] = v
	return v
}
