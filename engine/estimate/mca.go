package estimate

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"ripc/caches"
)

// lineCost is llvm-mca's estimate of a line.
type lineCost struct {
	cycles  int // from the first instruction's dispatch to the last one's end, and one for each that is unknown
	unknown int // instructions that the model lacks
}

// cost returns the cost of each line. The lines of one call are cached together: a network has
// thousands of short ones.
func (e *Estimator) cost(ctx context.Context, lines []line) ([]lineCost, error) {
	parts := [][]byte{[]byte("estimate/1"), []byte(e.tools.Version()), []byte(e.row.Triple), []byte(e.row.Model),
		[]byte(e.row.CPU), []byte(e.row.Attrs)}
	for _, l := range lines {
		parts = append(parts, l)
	}
	key := caches.Key(parts...)
	if data, ok := e.cache.Get(key); ok && len(data) == 16*len(lines) {
		costs := make([]lineCost, len(lines))
		for i := range costs {
			costs[i] = lineCost{int(binary.LittleEndian.Uint64(data[16*i:])),
				int(binary.LittleEndian.Uint64(data[16*i+8:]))}
		}
		return costs, nil
	}
	costs, err := e.ask(ctx, lines)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, c := range costs {
		data = binary.LittleEndian.AppendUint64(data, uint64(c.cycles))
		data = binary.LittleEndian.AppendUint64(data, uint64(c.unknown))
	}
	e.cache.Put(key, data)
	return costs, nil
}

const (
	// linesEach is the number of lines that justify another process.
	linesEach = 256
	// together is the number of consecutive lines that may share tapes: the lines of a job mostly
	// follow each other.
	together = 64
)

// ask shares the lines out among processes, at most one per core.
func (e *Estimator) ask(ctx context.Context, lines []line) ([]lineCost, error) {
	texts, err := e.disassemble(ctx, lines)
	if err != nil {
		return nil, err
	}
	costs := make([]lineCost, len(lines))
	shares := make([][]tape, min(runtime.GOMAXPROCS(0), (len(lines)+linesEach-1)/linesEach))
	for first := 0; first < len(lines); first += together {
		mine := &shares[first/together%len(shares)]
		*mine = append(*mine, tapes(lines, first, min(first+together, len(lines)))...)
	}
	errs := make([]error, len(shares))
	var wg sync.WaitGroup
	for k, share := range shares {
		wg.Go(func() { errs[k] = e.analyze(ctx, texts, share, costs) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// disassemble gives the assembly of each instruction of the lines.
func (e *Estimator) disassemble(ctx context.Context, lines []line) (map[[step]byte][]byte, error) {
	texts := map[[step]byte][]byte{} // each instruction once
	var order [][step]byte
	for _, l := range lines {
		for ; len(l) > 0; l = l[step:] {
			if _, ok := texts[[step]byte(l)]; !ok {
				texts[[step]byte(l)] = nil
				order = append(order, [step]byte(l))
			}
		}
	}
	var hex bytes.Buffer
	for _, i := range order {
		for _, b := range i[:size(e.row, i[:])] {
			hex.WriteString("0x" + strconv.FormatUint(uint64(b), 16) + " ")
		}
		hex.WriteByte('\n')
	}
	out, err := e.tools.Run(ctx, "llvm-mc", hex.Bytes(), "-disassemble", "-triple="+e.row.Triple, "-mcpu="+e.row.CPU,
		"-mattr="+e.row.Attrs, "-output-asm-variant="+strconv.Itoa(e.row.AsmVariant))
	if err != nil {
		return nil, err
	}
	got := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(got) != len(order) {
		return nil, fmt.Errorf("llvm-mc disassembled %d of %d instructions", len(got), len(order))
	}
	for k, i := range order {
		texts[i] = got[k]
	}
	return texts, nil
}

// analyze lets llvm-mca cost the lines of the tapes and stores the results in costs. llvm-mca omits
// lines without known instructions from its report, which must not be empty, so an addition is
// appended.
func (e *Estimator) analyze(ctx context.Context, texts map[[step]byte][]byte, tapes []tape, costs []lineCost) error {
	var asm bytes.Buffer
	for _, t := range tapes {
		begin, end := map[int][]int{}, map[int][]int{} // lines by where they do
		for _, s := range t.spans {
			begin[s.first], end[s.end] = append(begin[s.first], s.line), append(end[s.end], s.line)
		}
		for i := range len(t.code)/step + 1 {
			for _, l := range end[i] {
				fmt.Fprintf(&asm, "%s LLVM-MCA-END %d\n", e.row.CommentMark, l)
			}
			for _, l := range begin[i] {
				fmt.Fprintf(&asm, "%s LLVM-MCA-BEGIN %d\n", e.row.CommentMark, l)
			}
			if i*step < len(t.code) {
				asm.Write(texts[[step]byte(t.code[i*step:])])
				asm.WriteByte('\n')
			}
		}
	}
	fmt.Fprintf(&asm, "%[1]s LLVM-MCA-BEGIN end\n%[2]s\n%[1]s LLVM-MCA-END end\n", e.row.CommentMark,
		e.row.Addition)
	regions, err := e.tools.Analyze(ctx, e.row, asm.Bytes())
	if err != nil {
		return err
	}
	known := map[string]int{}
	for k, c := range regions {
		known[c.Name] = k
	}
	if _, ok := known["end"]; !ok {
		return fmt.Errorf("llvm-mca's report ends early, after %d pieces of code", len(known))
	}
	for _, t := range tapes {
		for _, s := range t.spans {
			n := s.end - s.first
			c := lineCost{unknown: n}
			if k, ok := known[strconv.Itoa(s.line)]; ok {
				v := regions[k].SummaryView
				c = lineCost{cycles: v.TotalCycles, unknown: n - v.Instructions}
			}
			c.cycles += c.unknown
			costs[s.line] = c
		}
	}
	return nil
}
