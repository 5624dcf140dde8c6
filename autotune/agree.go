package autotune

import (
	"cmp"
	"context"
	"slices"

	"ripc/autotune/records"
	"ripc/compile"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// Agreement holds the algorithms and schedules that records give a network.
type Agreement struct {
	compile.Tuning
	Notes []Note
}

// Note is one thing to say of records and a network.
type Note struct {
	Kind   NoteKind
	Layers []string // that it is about
	Count  int      // of records or lines
	CPU    string   // that other records are of
	// Simulated says that these are of a model of CPU.
	Simulated bool
	Cold      bool  // the caches of the other records
	Err       error // why a schedule does not fit
}

// NoteKind is the subject of a Note.
type NoteKind int

// The kinds of notes.
const (
	Without     NoteKind = iota // layers without records
	Stale                       // a layer's schedule does not fit any more
	OtherCPU                    // records of another machine
	OtherCaches                 // records of this machine with caches that were emptied, or that were not
	Foreign                     // records in another version's format
	Newer                       // records of a version of ripc that is newer than this one
	Damaged                     // lines that are no records
)

// Agree chooses the algorithm of each layer with a choice and a schedule for each kernel. The sum
// of the measured costs of all stages is least. It depends on the network, the records and, for the
// target host, on cpu, the name of this machine's CPU. It fails only where n cannot be lowered, or
// with ctx's error. Costs of different machines are never compared: it takes those of one.
func Agree(ctx context.Context, n *Network, set *records.Set, cpu string) (*Agreement, error) {
	a := &agreement{network: n, set: set, best: map[string]*measured{}}
	a.read(cpu)
	if !a.any {
		p, err := n.lowered(ctx, nil)
		if err != nil {
			return nil, err
		}
		return a.agreeOn(ctx, p, nil)
	}
	programs, err := n.programs(ctx)
	if err != nil {
		return nil, err
	}
	p := programs[0]
	choice, err := a.choose(ctx, programs)
	if err == nil && len(choice) > 0 {
		p, err = n.lowered(ctx, choice)
	}
	if err != nil {
		return nil, err
	}
	return a.agreeOn(ctx, p, choice)
}

// agreement is one call of Agree.
type agreement struct {
	network *Network
	set     *records.Set
	class   records.Class // that costs are of
	any     bool          // there are records of the target in class
	best    map[string]*measured
	notes   []Note
}

// measured is the cheapest schedule of a kernel that fits it; nil where the records have none.
type measured struct {
	cost   float64
	choice strategy.Choice
}

// read finds the class of costs to believe: measured ones before simulated ones, then the class
// with most candidates.
func (a *agreement) read(cpu string) {
	own, notes := siftRecords(a.set, a.network.Target.Name)
	tried := map[records.Class]map[string]bool{}
	a.set = own
	if a.network.Target.Name == targets.HostName {
		a.set = &records.Set{Records: slices.DeleteFunc(slices.Clone(own.Records), func(r records.Record) bool {
			return r.Machine.CPU != cpu && !r.Machine.Simulated
		})}
	}
	for i := range a.set.Records {
		r := &a.set.Records[i]
		if r.Result.Failure == nil {
			if tried[r.Class()] == nil {
				tried[r.Class()] = map[string]bool{}
			}
			tried[r.Class()][r.Workload.Key+"\n"+r.Candidate.Key()] = true
		}
	}
	for c := range tried {
		if !a.any || precedes(c, a.class, len(tried[c]), len(tried[a.class])) {
			a.any, a.class = true, c
		}
	}
	mine := a.class
	if !a.any {
		mine.CPU = cpu
	}
	a.notes = notes
	if a.any || a.network.Target.Name == targets.HostName { // else no machine was chosen that others would not be
		a.notes = append(a.notes, noteOthers(own, mine)...)
	}
}

// precedes orders classes of n and m candidates.
func precedes(c, d records.Class, n, m int) bool {
	if c.Simulated != d.Simulated {
		return d.Simulated
	}
	return cmp.Or(-cmp.Compare(n, m), c.Compare(d)) < 0
}

// agreeOn is the agreement for p, which has the algorithms of choice.
func (a *agreement) agreeOn(ctx context.Context, p *ir.Program,
	choice map[string]layout.Algorithm) (*Agreement, error) {
	out := &Agreement{Tuning: compile.Tuning{Algorithms: choice, Schedules: map[string]strategy.Choice{}}}
	without := Note{Kind: Without}
	for _, s := range p.Stages {
		m, err := a.cheapest(ctx, p, p.FuncByName(s.Func))
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			without.Layers = append(without.Layers, s.Layer.Title(s.Name))
		default:
			out.Schedules[s.Func] = m.choice
		}
	}
	if len(without.Layers) > 0 {
		a.notes = append(a.notes, without)
	}
	out.Notes = a.notes
	return out, nil
}

// maxStale is how many schedules of other versions of ripc that do not fit a kernel are looked at
// before all of these count as of no use: each takes milliseconds, and where many do not fit, none
// does.
const maxStale = 24

// cheapest is the cheapest schedule of f, a Func of p, that is measured and fits; nil if there is
// none. It fails with ctx's error, or that of the records' file.
func (a *agreement) cheapest(ctx context.Context, p *ir.Program, f *ir.Func) (*measured, error) {
	key := f.Key()
	if m, ok := a.best[key]; ok {
		return m, nil
	}
	var found *measured
	stale := 0
	for _, r := range a.set.Ranked(records.Task{Workload: key, Target: a.network.Target.Name}, a.class) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if stale >= maxStale && r.Versions.Ripc != compile.Version {
			continue
		}
		tr, err := traceOf(r.Candidate.Trace)
		if err == nil {
			err = compile.Fits(p, f, tr, a.network.Target)
		}
		if err == nil {
			found = &measured{r.Result.Cost, strategy.Choice{Strategy: r.Candidate.Strategy, Values: r.Candidate.Values,
				Trace: tr}}
			break
		}
		if r.Versions.Ripc != compile.Version {
			stale++
		}
		if len(a.notes) == 0 || a.notes[len(a.notes)-1].Kind != Stale ||
			!slices.Equal(a.notes[len(a.notes)-1].Layers, p.LayersOf(f.Name)) {
			a.notes = append(a.notes, Note{Kind: Stale, Layers: p.LayersOf(f.Name), Err: err})
		}
	}
	a.best[key] = found
	return found, nil
}
