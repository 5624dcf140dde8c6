package compile

import (
	"bytes"
	"debug/elf"
	"encoding/gob"
	"fmt"
	"sync"

	"ripc/caches"
	"ripc/ir"
	"ripc/schedule/strategy"
)

// verdict is the result of a search for a Func that was compared with others, or with measurements
// of it. It is kept in the user's cache: a search takes longer than the rest of a compilation.
type verdict struct {
	Schedules []decided // the best and those made beside it; none if the Func, or a search of it, promises nothing
	Cost      float64   // where there are none
}

// decided is a schedule that was found, without its Func.
type decided struct {
	Strategy   string
	Values     strategy.Values
	Cost, Time float64
	Counts     []float64
}

// program returns Go's build ID of this executable, which holds the models, or nil. Without it no
// verdict is kept.
var program = sync.OnceValue(func() []byte {
	f, err := elf.Open("/proc/self/exe") // its path may lead to a newer program by now
	if err != nil {
		return nil
	}
	defer f.Close()
	id := f.Section(".note.go.buildid")
	if id == nil {
		return nil
	}
	data, err := id.Data()
	if err != nil {
		return nil
	}
	return data
})

// question returns the cache's key of a search: the program, the target, the keys of the compared
// Funcs, and the schedules that were known before.
func (s *finder) question(keys []string, known []found) string {
	parts := [][]byte{s.program, fmt.Appendf(nil, "%+v", s.target)}
	for i, k := range known {
		parts = append(parts, fmt.Appendf(nil, "%s %s %v", keys[i], k.Strategy, k.Values))
	}
	return caches.Key(parts...)
}

// recall fills in the schedules of an earlier search. ok is false if none is kept.
func (s *finder) recall(question string, out []found) (ok bool) {
	data, ok := s.kept.Get(question)
	if !ok {
		return false
	}
	var all []verdict
	if gob.NewDecoder(bytes.NewReader(data)).Decode(&all) != nil || len(all) != len(out) {
		return false
	}
	for i, v := range all {
		switch {
		case out[i].Strategy != "": // it was known before
		case len(v.Schedules) == 0:
			out[i].cost = v.Cost
		default:
			out[i] = v.Schedules[0].restore()
			for _, d := range v.Schedules[1:] {
				out[i].next = append(out[i].next, d.restore())
			}
		}
	}
	return true
}

// remember keeps the schedules of a search that were not known before.
func (s *finder) remember(question string, known, out []found) {
	all := make([]verdict, len(out))
	for i, k := range out {
		switch {
		case known[i].Strategy != "":
		case k.fits: // the plainest schedule, which needs no search
			return
		case k.Strategy == "":
			all[i].Cost = k.cost
		default:
			for _, k := range append([]found{k}, k.next...) {
				all[i].Schedules = append(all[i].Schedules, decided{k.Strategy, k.Values, k.cost, k.time, k.counts})
			}
		}
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(all); err != nil {
		panic("BUG: " + err.Error())
	}
	s.kept.Put(question, data.Bytes())
}

func (d decided) restore() found {
	return found{Choice: strategy.Choice{Strategy: d.Strategy, Values: d.Values}, cost: d.Cost, time: d.Time,
		counts: d.Counts}
}

// complete makes the Func of a schedule that was recalled.
func (s *finder) complete(f *ir.Func, k found) (found, error) {
	if k.Func != nil {
		return k, nil
	}
	var err error
	if k.Choice, err = buildPoint(strategy.LayerOf(f, s.target), k.Strategy, k.Values); err != nil {
		return k, &InternalError{"schedule of " + f.Name, err}
	}
	return k, nil
}

// buildPoint makes a schedule of a layer. It fails where the strategy does not apply to the layer.
func buildPoint(l *strategy.Layer, name string, values strategy.Values) (strategy.Choice, error) {
	st, ok := findStrategy(l, name)
	if !ok {
		return strategy.Choice{}, fmt.Errorf("strategy %s does not apply", name)
	}
	return st.Build(l, values)
}
