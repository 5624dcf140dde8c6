package autotune

import (
	"fmt"
	"slices"

	"ripc/autotune/records"
	"ripc/compile"
)

// siftRecords returns the records of a target that this version of ripc may go by, and notes on
// those that it leaves out.
func siftRecords(set *records.Set, target string) (own *records.Set, notes []Note) {
	own = &records.Set{}
	newer := 0
	for _, r := range set.Records {
		switch {
		case r.Target != target:
		case isNewer(r.Versions.Ripc, compile.Version):
			newer++
		default:
			own.Records = append(own.Records, r)
		}
	}
	notes = []Note{{Kind: Foreign, Count: len(set.Foreign)}, {Kind: Damaged, Count: len(set.Damaged)},
		{Kind: Newer, Count: newer}}
	return own, slices.DeleteFunc(notes, func(n Note) bool { return n.Count == 0 })
}

// noteOthers returns notes of the records with costs of another class than mine: one for each other
// machine, and one for records with other caches. Unbuildable candidates are believed of every
// machine.
func noteOthers(set *records.Set, mine records.Class) []Note {
	var notes []Note
	caches := Note{Kind: OtherCaches, Cold: !mine.Cold}
	for _, r := range set.Records {
		if f := r.Result.Failure; f != nil && f.Kind == records.Unbuildable {
			continue
		}
		if r.Class().SameMachine(mine) {
			if r.Result.Failure == nil && r.Result.Cold != mine.Cold {
				caches.Count++
			}
			continue
		}
		i := slices.IndexFunc(notes, func(n Note) bool {
			return n.CPU == r.Machine.CPU && n.Simulated == r.Machine.Simulated
		})
		if i < 0 {
			i = len(notes)
			notes = append(notes, Note{Kind: OtherCPU, CPU: r.Machine.CPU, Simulated: r.Machine.Simulated})
		}
		notes[i].Count++
	}
	machine := func(n Note) records.Class { return records.Class{CPU: n.CPU, Simulated: n.Simulated} }
	slices.SortFunc(notes, func(n, m Note) int { return machine(n).Compare(machine(m)) })
	if caches.Count > 0 {
		notes = append(notes, caches)
	}
	return notes
}

// isNewer compares versions such as "0.12.1", number by number.
func isNewer(v, than string) bool {
	var a, b [3]int
	_, _ = fmt.Sscanf(v, "%d.%d.%d", &a[0], &a[1], &a[2]) // as many as there are
	_, _ = fmt.Sscanf(than, "%d.%d.%d", &b[0], &b[1], &b[2])
	return slices.Compare(a[:], b[:]) > 0
}
