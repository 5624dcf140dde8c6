package simulate

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
)

// Profile counts the executions of an artifact's instructions in one job. Addresses are
// those of the artifact's own file, as its ELF headers have them.
type Profile struct {
	Pieces []Piece // by First, then Last; none twice
	Jumps  []Jump  // by To, then From; none twice
}

// Piece is straight-line code: if its first instruction is executed, all are, in the order of their
// addresses. Pieces may overlap, where code jumps into the middle of another one.
type Piece struct {
	First, Last  uint64 // addresses of instructions
	Instructions uint64
	Times        uint64
}

// Jump counts how often control went from the last instruction of one piece to the first of
// another. The other one may be adjacent in memory.
type Jump struct{ From, To, Times uint64 }

// Instructions is the number of executed instructions.
func (p *Profile) Instructions() uint64 {
	n := uint64(0)
	for _, q := range p.Pieces {
		n += q.Instructions * q.Times
	}
	return n
}

// ReadProfiles reads the counter's file at path: a profile of each job, for the size bytes of
// program at address at. All other executed code belongs to the runner.
func ReadProfiles(path string, jobs int, at, size uint64) ([]*Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("simulate: the instruction counter wrote nothing (does this qemu support plugins?): %w",
			err)
	}
	defer f.Close()
	inside := func(a uint64) bool { return a >= at && a-at < size }
	lines := bufio.NewScanner(f)
	var all []*Profile
	now := &Profile{}
	for lines.Scan() {
		var kind string
		var v [4]uint64
		n, _ := fmt.Sscan(lines.Text(), &kind, &v[0], &v[1], &v[2], &v[3])
		switch {
		case kind == "piece" && n == 5:
			if inside(v[0]) {
				now.Pieces = append(now.Pieces, Piece{v[0] - at, v[1] - at, v[2], v[3]})
			}
		case kind == "jump" && n == 4:
			if inside(v[0]) && inside(v[1]) {
				now.Jumps = append(now.Jumps, Jump{v[0] - at, v[1] - at, v[2]})
			}
		case kind == "job" && n == 2 && v[0] == uint64(len(all)) && len(all) < jobs:
			now.merge()
			all = append(all, now)
			now = &Profile{}
		default:
			return nil, fmt.Errorf("simulate: the instruction counter wrote %q for job %d", lines.Text(), len(all))
		}
	}
	if err := lines.Err(); err != nil || len(all) != jobs {
		return nil, fmt.Errorf("simulate: the instruction counter wrote %d of %d counts (%v)", len(all), jobs, err)
	}
	return all, nil
}

// merge sorts, and adds up duplicates: qemu may translate code again.
func (p *Profile) merge() {
	slices.SortFunc(p.Pieces,
		func(a, b Piece) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) })
	slices.SortFunc(p.Jumps, func(a, b Jump) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	var pieces []Piece
	for _, q := range p.Pieces {
		if n := len(pieces) - 1; n >= 0 && pieces[n].First == q.First && pieces[n].Last == q.Last {
			pieces[n].Times += q.Times
			continue
		}
		pieces = append(pieces, q)
	}
	var jumps []Jump
	for _, j := range p.Jumps {
		if n := len(jumps) - 1; n >= 0 && jumps[n].From == j.From && jumps[n].To == j.To {
			jumps[n].Times += j.Times
			continue
		}
		jumps = append(jumps, j)
	}
	p.Pieces, p.Jumps = pieces, jumps
}
