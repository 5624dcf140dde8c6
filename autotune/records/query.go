package records

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"ripc/internal/lists"
)

// Class has the properties by which costs may be compared: the CPU, whether it is simulated, the
// unit, and the state of the caches.
type Class struct {
	CPU       string
	Simulated bool
	Unit      Unit
	Cold      bool // its caches are empty before each run
}

// SameMachine reports whether c and d are of one kind of machine, whatever the unit and the caches:
// failures have none.
func (c Class) SameMachine(d Class) bool { return c.CPU == d.CPU && c.Simulated == d.Simulated }

// Compare orders classes: measured ones before simulated ones, CPUs by name, warm caches before
// cold ones.
func (c Class) Compare(d Class) int {
	return cmp.Or(falseFirst(c.Simulated, d.Simulated), strings.Compare(c.CPU, d.CPU), falseFirst(c.Cold, d.Cold),
		cmp.Compare(c.Unit, d.Unit))
}

// Text is the machine of c, for people.
func (c Class) Text() string {
	text := c.CPU
	if c.Simulated {
		text += " (simulated)"
	}
	if c.Cold {
		text += ", cold caches"
	}
	return text
}

// Class of a record's machine and cost.
func (r *Record) Class() Class {
	return Class{CPU: r.Machine.CPU, Simulated: r.Machine.Simulated, Unit: r.Result.Unit, Cold: r.Result.Cold}
}

// Key says which candidate of its workload c is: two with the same are the same code.
func (c *Candidate) Key() string {
	return c.Algorithm + "\n" + strings.Join(c.Trace, "\n")
}

// Task is a workload on a target.
type Task struct {
	Workload string // its Key
	Target   string
}

// Task that r is of.
func (r *Record) Task() Task { return Task{Workload: r.Workload.Key, Target: r.Target} }

// Tasks are those that s has records of, in the order of the file.
func (s *Set) Tasks() []Task {
	return lists.Map(s.byTask(), func(own *Set) Task { return own.Records[0].Task() })
}

// OfTask returns the records of a task, in the order of the file: costs and failures.
func (s *Set) OfTask(t Task) []Record {
	var out []Record
	for i := range s.Records {
		if s.Records[i].Task() == t {
			out = append(out, s.Records[i])
		}
	}
	return out
}

// Classes are those in which the task has costs. The one to trust most is first: measured classes
// go before simulated ones, then the latest goes first, by the time of its best candidate.
func (s *Set) Classes(t Task) []Class {
	measured, lost := map[Class]time.Time{}, map[Class]bool{} // no candidate of a lost one may be used
	for _, r := range s.OfTask(t) {
		c := r.Class()
		if _, known := measured[c]; known || r.Result.Failure != nil {
			continue
		}
		measured[c], lost[c] = time.Time{}, true
		if ranked := s.Ranked(t, c); len(ranked) > 0 {
			measured[c], _ = time.Parse(time.RFC3339, ranked[0].Origin.Time) // without one it is the oldest
			lost[c] = false
		}
	}
	return slices.SortedFunc(maps.Keys(measured), func(a, b Class) int {
		return cmp.Or(falseFirst(lost[a], lost[b]), falseFirst(a.Simulated, b.Simulated),
			measured[b].Compare(measured[a]), a.Compare(b))
	})
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Ranked are the candidates of a task that have a cost in class c, the cheapest first, each once
// (Typical). One that crashed or was wrong, on whatever machine, is not among them.
func (s *Set) Ranked(t Task, c Class) []Record {
	var order []string
	times := map[string][]Record{}
	bad := map[string]bool{}
	for _, r := range s.OfTask(t) {
		key := r.Candidate.Key()
		switch {
		case r.Result.Failure != nil:
			bad[key] = bad[key] || r.Result.Failure.Kind == Wrong || r.Result.Failure.Kind == Crashed
		case r.Class() == c:
			if times[key] == nil {
				order = append(order, key)
			}
			times[key] = append(times[key], r)
		}
	}
	var out []Record
	for _, key := range order {
		if !bad[key] {
			out = append(out, Typical(times[key]))
		}
	}
	slices.SortStableFunc(out, func(a, b Record) int {
		return cmp.Or(byCost(a, b), strings.Compare(a.Candidate.Key(), b.Candidate.Key()))
	})
	return out
}

// Typical is, of one or more measurements of a candidate, the lower of two, and of more the second
// lowest: other programs make kernels slower, and one measurement may be lucky.
func Typical(of []Record) Record {
	sorted := slices.Clone(of)
	slices.SortStableFunc(sorted, byCost)
	return sorted[min(1, (len(sorted)-1)/2)]
}

func byCost(a, b Record) int { return cmp.Compare(a.Result.Cost, b.Result.Cost) }

// Default is the default schedule's record of a task in class c; ok is whether there is one. If
// default schedules changed between runs it is the latest one's.
func (s *Set) Default(t Task, c Class) (def Record, ok bool) {
	var key string
	for _, r := range s.OfTask(t) {
		if r.Origin.Trial == 0 && r.Result.Failure == nil && r.Class() == c {
			key, ok = r.Candidate.Key(), true
		}
	}
	if !ok {
		return Record{}, false
	}
	for _, r := range s.Ranked(t, c) {
		if r.Candidate.Key() == key {
			return r, true
		}
	}
	return Record{}, false
}

// Merge is all of the sets, in their order. Records and foreign lines that are there already, equal
// to the last byte, are left out.
func Merge(sets ...*Set) (*Set, error) {
	out := &Set{}
	seen := map[string]bool{}
	isNew := func(line string) bool {
		defer func() { seen[line] = true }()
		return !seen[line]
	}
	for _, s := range sets {
		for _, r := range s.Records {
			line, err := r.line()
			if err != nil {
				return nil, err
			}
			if isNew(string(line)) {
				out.Records = append(out.Records, r)
			}
		}
		for _, f := range s.Foreign {
			if isNew(string(f.Text) + "\n") {
				out.Foreign = append(out.Foreign, f)
			}
		}
	}
	return out, nil
}

// Prune returns the records of s that are worth keeping: of each task and class the records of the
// best candidates, keep of them, and of the default schedule, task by task; where versions of ripc
// are named, of these only. Failures and damaged lines are left out.
func (s *Set) Prune(keep int, versions ...string) *Set {
	current := &Set{}
	for _, r := range s.Records {
		if len(versions) == 0 || slices.Contains(versions, r.Versions.Ripc) {
			current.Records = append(current.Records, r)
		}
	}
	out := &Set{Foreign: s.Foreign}
	for _, own := range current.byTask() {
		type candidate struct {
			class Class
			key   string
		}
		t := own.Records[0].Task()
		kept := map[candidate]bool{}
		for _, c := range own.Classes(t) {
			ranked := own.Ranked(t, c)
			for _, r := range ranked[:min(keep, len(ranked))] {
				kept[candidate{c, r.Candidate.Key()}] = true
			}
			if def, ok := own.Default(t, c); ok {
				kept[candidate{c, def.Candidate.Key()}] = true
			}
		}
		for _, r := range own.Records {
			if r.Result.Failure == nil && kept[candidate{r.Class(), r.Candidate.Key()}] {
				out.Records = append(out.Records, r)
			}
		}
	}
	return out
}
