package estimate

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ripc/engine/simulate"
	"ripc/targets/boards"
)

// ErrNoTimings says that the manual of a core does not tell how many cycles its instructions take.
var ErrNoTimings = errors.New("the core's manual has no table of instruction timings")

// Timings estimate the cycles of one core by the table in its manual. They are immutable.
type Timings struct {
	boards.Timings
	rows map[string]*boards.Timing // by mnemonic
}

// TimingsOf returns the timings of the core of the board of the target called name. It fails with
// ErrNoTimings (wrapped).
func TimingsOf(name string) (*Timings, error) {
	board, _ := boards.Of(name)
	if board.Timings == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNoTimings)
	}
	t := &Timings{*board.Timings, map[string]*boards.Timing{}}
	for i := range t.Rows {
		for _, mnemonic := range strings.Fields(t.Rows[i].Mnemonics) {
			t.rows[mnemonic] = &t.Rows[i]
		}
	}
	return t, nil
}

// instruction is one of a program.
type instruction struct {
	address        uint64
	width          uint64 // bytes
	name           string // mnemonic, as the table has it
	operands       string
	*boards.Timing // nil if the table lacks it
}

var conditions = []string{"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt",
	"le"}

// find returns the row of a mnemonic as disassemblers print it: a condition, a size, or an s may
// follow the table's.
func (t *Timings) find(mnemonic string) (string, *boards.Timing) {
	name, _, _ := strings.Cut(mnemonic, ".")
	if strings.HasPrefix(name, "it") && strings.Trim(name[2:], "te") == "" {
		name = "it"
	}
	names := []string{name}
	for _, c := range conditions {
		if stem, ok := strings.CutSuffix(name, c); ok { // before the s, or bls would be bl
			names = append(names, stem, strings.TrimSuffix(stem, "s"))
		}
	}
	for _, n := range append(names, strings.TrimSuffix(name, "s")) {
		if row, ok := t.rows[n]; ok {
			return n, row
		}
	}
	return name, nil
}

var lineOfCode = regexp.MustCompile(`^ *([0-9a-f]+):\t([0-9a-f ]+)\t([a-z][a-z0-9.]*)(?:\t([^@;]*))?`)

// read parses the output of objdump -d: the instructions by address.
func (t *Timings) read(listing []byte) ([]instruction, error) {
	var all []instruction
	lines := bufio.NewScanner(bytes.NewReader(listing))
	for lines.Scan() {
		v := lineOfCode.FindStringSubmatch(lines.Text())
		if v == nil { // a label, or data
			continue
		}
		at, err := strconv.ParseUint(v[1], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("estimate: the disassembler prints %q: %w", lines.Text(), err)
		}
		in := instruction{address: at, width: uint64(len(strings.ReplaceAll(v[2], " ", "")) / 2),
			operands: strings.TrimSpace(v[4])}
		in.name, in.Timing = t.find(v[3])
		all = append(all, in)
	}
	slices.SortStableFunc(all, func(a, b instruction) int { return cmp.Compare(a.address, b.address) })
	return all, lines.Err()
}

var registerRange = regexp.MustCompile(`\b(r|s|d)(\d+)(?:-[rsd](\d+))?\b|\b(?:sl|fp|ip|sp|lr|pc)\b`)

// registers lists those in text. A double register is two single ones.
func registers(text string) []string {
	var all []string
	for _, v := range registerRange.FindAllStringSubmatch(text, -1) {
		if v[1] == "" {
			all = append(all, v[0])
			continue
		}
		first, _ := strconv.Atoi(v[2])
		last, err := strconv.Atoi(v[3])
		if err != nil {
			last = first
		}
		for i := first; i <= last; i++ {
			if v[1] == "d" {
				all = append(all, fmt.Sprint("s", 2*i), fmt.Sprint("s", 2*i+1))
				continue
			}
			all = append(all, fmt.Sprint(v[1], i))
		}
	}
	return all
}

// results are the registers that in computes or loads, where they matter to the instruction behind
// it.
func (in *instruction) results() []string {
	parts := strings.SplitN(in.operands, ",", 3)
	if strings.HasSuffix(in.name, "ull") || strings.HasSuffix(in.name, "lal") { // 64 bits
		return registers(strings.Join(parts[:min(2, len(parts))], ","))
	}
	return registers(parts[0])
}

// addresses are the registers by which in addresses memory.
func (in *instruction) addresses() []string {
	if _, text, ok := strings.Cut(in.operands, "["); ok {
		return registers(strings.SplitN(text, "]", 2)[0])
	}
	if strings.HasSuffix(in.name, "push") || strings.HasSuffix(in.name, "pop") {
		return []string{"sp"}
	}
	base, _, _ := strings.Cut(in.operands, ",")
	return registers(base)
}

// floats are the registers that in, an instruction on floats, reads at its beginning. Multiply-adds
// read the addend later, which is their result's register.
func (in *instruction) floats() []string {
	switch {
	case strings.HasPrefix(in.name, "vst") || in.name == "vpush" || strings.HasPrefix(in.name, "vcmp"):
		return registers(in.operands)
	case strings.HasPrefix(in.name, "v"):
		_, rest, _ := strings.Cut(in.operands, ",")
		return registers(rest)
	}
	return nil
}

// words returns the number of words that in moves.
func (in *instruction) words() int {
	if _, list, ok := strings.Cut(in.operands, "{"); ok {
		return len(registers(list))
	}
	moved, _, _ := strings.Cut(in.operands, "[")
	return len(registers(moved))
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(r string) bool { return slices.Contains(b, r) })
}

// cost returns the cycles of in behind before, the instruction that was executed last; nil if
// that was a branch. Package boards says where the rules are from.
func (in *instruction) cost(before *instruction) int {
	if in.Timing == nil {
		return 1
	}
	c := in.Cycles
	switch {
	case in.PerWord > 0:
		c += in.PerWord * in.words()
	case in.Effect == boards.Store && strings.Contains(in.operands, "[") && len(in.addresses()) < 2:
		c = 1 // with an immediate offset
	case in.Effect == boards.Move && in.movesCore():
		c = 2
	}
	if before == nil || before.Timing == nil {
		return c
	}
	memory := in.Effect == boards.Load || in.Effect == boards.Store || in.Effect == boards.Multiple
	switch {
	case before.Effect == boards.Data && memory && overlap(before.results(), in.addresses()):
		c++ // the address is computed one cycle too late
	case before.Effect == boards.Load && (in.Effect == boards.Load || in.Effect == boards.Store && c > 1) &&
		!overlap(before.results(), in.addresses()):
		c-- // pipelined
	case before.Effect == boards.Arithmetic && overlap(before.results(), in.floats()):
		c++ // the result comes one cycle too late
	case in.Effect == boards.Fold && before.width == 2:
		c = 0
	}
	return c
}

// movesCore reports whether a vmov reads or writes a register of the core, other than half of a
// double.
func (in *instruction) movesCore() bool {
	return !strings.Contains(in.operands, "[") && slices.ContainsFunc(registers(in.operands),
		func(r string) bool { return r[0] != 's' || r == "sp" || r == "sl" })
}

// Jobs returns the cycles of jobs, from their profiles and the output of objdump -d for the
// program. It fails if the two contradict each other.
func (t *Timings) Jobs(listing []byte, jobs []*simulate.Profile) ([]Cycles, error) {
	code, err := t.read(listing)
	if err != nil {
		return nil, err
	}
	at := make(map[uint64]int, len(code))
	for i, in := range code {
		at[in.address] = i
	}
	all := make([]Cycles, len(jobs))
	for k, p := range jobs {
		if all[k], err = sumOf(code, at, p); err != nil {
			return nil, fmt.Errorf("estimate: job %d: %w", k, err)
		}
	}
	return all, nil
}

// sumOf adds up the cycles of a job. at has the places of addresses in code.
func sumOf(code []instruction, at map[uint64]int, p *simulate.Profile) (Cycles, error) {
	times := make([]uint64, len(code)) // executions
	on := make([]uint64, len(code))    // how often the next one followed
	place := func(a uint64) (int, error) {
		i, ok := at[a]
		if !ok {
			return 0, fmt.Errorf("there is no instruction at %#x", a)
		}
		return i, nil
	}
	for _, q := range p.Pieces {
		i, err := place(q.First)
		if err != nil {
			return Cycles{}, err
		}
		for a := q.First; ; i++ {
			if i == len(code) || code[i].address != a || a > q.Last {
				return Cycles{}, fmt.Errorf("there is no straight code from %#x to %#x", q.First, q.Last)
			}
			times[i] += q.Times
			if a == q.Last {
				break
			}
			on[i] += q.Times
			a += code[i].width
		}
	}
	total, unknown := uint64(0), uint64(0)
	for _, j := range p.Jumps {
		i, err := place(j.From)
		switch in := &code[i]; {
		case err != nil:
			return Cycles{}, err
		case j.To == in.address+in.width:
			on[i] += j.Times
		case in.Timing != nil:
			total += uint64(in.Refill) * j.Times
		}
	}
	for i := range code {
		in, behind := &code[i], uint64(0)
		if times[i] == 0 {
			continue
		}
		if in.Timing == nil {
			unknown += times[i]
		}
		if i > 0 && code[i-1].address+code[i-1].width == in.address {
			behind = on[i-1]
			total += behind * uint64(in.cost(&code[i-1]))
		}
		if behind > times[i] {
			return Cycles{}, fmt.Errorf("control came to %#x more often than it was executed", in.address)
		}
		total += (times[i] - behind) * uint64(in.cost(nil))
	}
	return Cycles{Cycles: float64(total), Unknown: unknown}, nil
}
