package compile

import (
	"bytes"
	"debug/elf"
	"encoding/gob"
	"fmt"
	"os"

	"ripc/caches"
	"ripc/ir"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
)

// verdict is the result of a search for a Func that was compared with others. It is kept in the user's cache, since a search takes longer
// than the rest of a compilation.
type verdict struct {
	Schedules []decided // the best and those made beside it; none if the Func promises nothing
	Cost      float64   // where there are none
}

// decided is a schedule that was found, without its Func.
type decided struct {
	Strategy   string
	Values     strategy.Values
	Cost, Time float64
	Counts     []float64
}

// program names this executable, with its models, by Go's build ID. It is nil where there is none: nothing is kept then.
func program() []byte {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	f, err := elf.Open(path)
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
}

// question names what a search depends on: the program, the target, the Funcs with these keys, and what is known of them.
func (s *finder) question(keys []string, known []found) string {
	parts := [][]byte{s.program, fmt.Appendf(nil, "%+v", s.target)}
	for i, k := range known {
		parts = append(parts, fmt.Appendf(nil, "%s %s %v", keys[i], k.Strategy, k.Values))
	}
	return caches.Key(parts...)
}

// recall fills in what a search has found before. ok is false if none is kept.
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
			out[i] = v.Schedules[0].found()
			for _, d := range v.Schedules[1:] {
				out[i].next = append(out[i].next, d.found())
			}
		}
	}
	return true
}

// remember keeps what a search has found beside what was known.
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

func (d decided) found() found {
	return found{Choice: strategy.Choice{Strategy: d.Strategy, Values: d.Values}, cost: d.Cost, time: d.Time, counts: d.Counts}
}

// complete makes the Func of a schedule that was recalled.
func (s *finder) complete(f *ir.Func, k found) (found, error) {
	if k.Func != nil {
		return k, nil
	}
	l := strategy.LayerOf(f, s.target)
	st, ok := strategyOf(l, machine.Record{Strategy: k.Strategy})
	if !ok {
		return k, &InternalError{"schedule of " + f.Name, fmt.Errorf("strategy %s does not apply", k.Strategy)}
	}
	var err error
	if k.Choice, err = st.Build(l, k.Values); err != nil {
		return k, &InternalError{"schedule of " + f.Name, err}
	}
	return k, nil
}
