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

// known applies steps to Funcs made from one layer, and caches recent results: schedules of a layer
// begin alike. Goroutines may share it.
type known struct {
	instrs  map[string]*ir.Func
	applied recent[application, applied]
	sizes   recent[*ir.Func, int]
	judged  recent[*ir.Func, error]
	knobs   recent[string, []Knob] // by strategy
	blocks  recent[int, *ir.Func]  // the layer's Func with channels in blocks of n
}

func newKnown(t targets.Target) *known { return &known{instrs: isa.For(t)} }

// application is a step, as text, to a Func. Funcs are immutable, so the pointer is a key.
type application struct {
	f    *ir.Func
	step string
}

// applied is the result of an application.
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

// size returns size.Of of f's body.
func (k *known) size(f *ir.Func) int {
	return k.sizes.get(f, func() int { return size.Of(f.Body) })
}

// judge returns why Func f, scheduled from Func from, has no code: its estimated size, or sums that
// are not proved to fit. It is cached, since points of a space often end with the same schedule.
func (k *known) judge(from, f *ir.Func) error {
	return k.judged.get(f, func() error {
		if err := size.Check(from.Body, f.Body); err != nil {
			return err
		}
		return arith.VerifyWidths(f)
	})
}

// recent caches values by key. The zero value is empty.
type recent[K comparable, V any] struct {
	mu sync.Mutex
	// young and old hold the values. A full young map becomes the old one; values that were not
	// asked for since are dropped.
	young, old map[K]V
}

// most is the number of young values. A Func, the largest kind, takes some ten kilobytes.
const most = 1024

// get returns the value of k, which made computes. Callers that ask at the same time all receive
// the same value, so later steps on it share results.
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
