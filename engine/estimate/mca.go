package estimate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"ripc/codegen/llvm/toolchain"
)

// lineCost is what llvm-mca says of a line.
type lineCost struct {
	cycles  int // from the first instruction's dispatch to the last one's end, and one for each that is unknown
	unknown int // instructions that the model lacks
}

// cost returns what each line costs. The lines of one call are cached together: a network's are thousands, of some bytes each.
func (e *Estimator) cost(ctx context.Context, lines []line) ([]lineCost, error) {
	parts := [][]byte{[]byte("estimate/1"), []byte(e.tools.Version()), []byte(e.row.Triple), []byte(e.row.Model), []byte(e.row.CPU), []byte(e.row.Attrs)}
	for _, l := range lines {
		parts = append(parts, l)
	}
	key := toolchain.Key(parts...)
	if data, ok := e.cache.Get(key); ok && len(data) == 16*len(lines) {
		costs := make([]lineCost, len(lines))
		for i := range costs {
			costs[i] = lineCost{int(binary.LittleEndian.Uint64(data[16*i:])), int(binary.LittleEndian.Uint64(data[16*i+8:]))}
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

// linesEach is how many lines make it worth to start another process.
const linesEach = 256

// ask shares the lines out among as many processes as there are cores, if there are many.
func (e *Estimator) ask(ctx context.Context, lines []line) ([]lineCost, error) {
	texts, err := e.disassemble(ctx, lines)
	if err != nil {
		return nil, err
	}
	costs := make([]lineCost, len(lines))
	n := min(runtime.GOMAXPROCS(0), (len(lines)+linesEach-1)/linesEach)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			var mine []int
			for i := k; i < len(lines); i += n {
				mine = append(mine, i)
			}
			errs[k] = e.analyze(ctx, texts, mine, costs)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// disassemble turns lines into assembly, one slice of instructions a line.
func (e *Estimator) disassemble(ctx context.Context, lines []line) ([][][]byte, error) {
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
		for _, b := range i {
			hex.WriteString("0x" + strconv.FormatUint(uint64(b), 16) + " ")
		}
		hex.WriteByte('\n')
	}
	out, err := e.tools.Run(ctx, "llvm-mc", hex.Bytes(), "-disassemble", "-triple="+e.row.Triple, "-mcpu="+e.row.CPU, "-mattr="+e.row.Attrs)
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
	all := make([][][]byte, len(lines))
	for k, l := range lines {
		for ; len(l) > 0; l = l[step:] {
			all[k] = append(all[k], texts[[step]byte(l)])
		}
	}
	return all, nil
}

// report is the part of llvm-mca's JSON that is read.
type report struct {
	CodeRegions []struct {
		Name        string
		SummaryView struct{ TotalCycles, Instructions int }
	}
}

// analyze lets llvm-mca cost the lines mine and stores the results in costs. A call costs a cycle, not llvm-mca's hundred: what
// is called is counted as well. Lines of which it knows nothing are not in its report, which must not be empty, hence the addition.
func (e *Estimator) analyze(ctx context.Context, texts [][][]byte, mine []int, costs []lineCost) error {
	var asm bytes.Buffer
	for _, i := range mine {
		fmt.Fprintf(&asm, "%[1]s LLVM-MCA-BEGIN %[2]d\n%[3]s\n%[1]s LLVM-MCA-END\n", e.row.CommentMark, i, bytes.Join(texts[i], []byte("\n")))
	}
	fmt.Fprintf(&asm, "%[1]s LLVM-MCA-BEGIN end\nadd sp, sp, #16\n%[1]s LLVM-MCA-END\n", e.row.CommentMark)
	out, err := e.tools.Run(ctx, "llvm-mca", asm.Bytes(), "-mtriple="+e.row.Triple, "-mcpu="+e.row.Model, "-mattr="+e.row.Attrs, "-iterations=1",
		"-call-latency=1", "-skip-unsupported-instructions=any", "-instruction-info=false", "-resource-pressure=false", "-json")
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("llvm-mca's report: %w", err)
	}
	known := map[string]int{}
	for k, c := range r.CodeRegions {
		known[c.Name] = k
	}
	if _, ok := known["end"]; !ok {
		return fmt.Errorf("llvm-mca's report ends early, after %d pieces of code", len(known))
	}
	for _, i := range mine {
		c := lineCost{unknown: len(texts[i])}
		if k, ok := known[strconv.Itoa(i)]; ok {
			s := r.CodeRegions[k].SummaryView
			c = lineCost{cycles: s.TotalCycles, unknown: len(texts[i]) - s.Instructions}
		}
		c.cycles += c.unknown
		costs[i] = c
	}
	return nil
}
