// Package sass counts the machine instructions of kernels for NVIDIA's GPUs, without a GPU. Its
// tools are ptxas and nvdisasm of NVIDIA, which the wheels nvidia-cuda-nvcc-cu12 and
// nvidia-cuda-nvdisasm of PyPI have.
package sass

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns "lab sass".
func Command() *cobra.Command {
	var target string
	c := &cobra.Command{Use: "sass FILE.ptx --target SM", Short: "count the machine instructions of kernels in PTX",
		Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&target, "target", "sm_90", "the compute capability, as in the name of a target")
	c.RunE = func(c *cobra.Command, args []string) error {
		log, text, err := assemble(c.Context(), args[0], target)
		if err != nil {
			return err
		}
		return report(c.OutOrStdout(), log, text)
	}
	return c
}

// assemble returns the messages of ptxas, with registers and spills, and the text of the kernels.
// The text is "" for a GPU that nvdisasm does not know any more.
func assemble(ctx context.Context, path, target string) (log, text string, err error) {
	dir, err := os.MkdirTemp("", "ripc-sass")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	cubin := filepath.Join(dir, "kernels.cubin")
	out, err := exec.CommandContext(ctx, "ptxas", "-v", "-arch="+target, path, "-o", cubin).CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("ptxas: %w\n%s", err, out)
	}
	var fault strings.Builder
	dis := exec.CommandContext(ctx, "nvdisasm", "-c", cubin)
	dis.Stderr = &fault
	asm, err := dis.Output()
	if err != nil && !strings.Contains(fault.String(), "deprecated") {
		return "", "", fmt.Errorf("nvdisasm: %w\n%s", err, fault.String())
	}
	return string(out), string(asm), nil
}

// pipe is a unit of a multiprocessor.
type pipe int

const (
	popcounts pipe = iota
	integers
	memory
	matrices
	others
	pipes
)

// rates are the warp instructions that a multiprocessor issues a clock, by NVIDIA's programming
// guide (table of throughputs, compute capability 7.5 and up): 16 popcounts, 64 additions or logic
// operations and 32 accesses of threads. All together it issues 4.
func rates() [pipes]float64 {
	return [...]float64{popcounts: 0.5, integers: 2, memory: 1, matrices: 0.25, others: 4}
}

const issued = 4

// pipeOf returns the pipe of an operation.
func pipeOf(op string) pipe {
	for p, names := range [...][]string{popcounts: {"POPC"}, memory: {"LDS", "LDG", "STS", "STG", "LDL", "STL"},
		matrices: {"BMMA", "IMMA"}, integers: {"LOP", "IADD", "IMAD", "LEA", "SHF", "ISETP", "SEL", "IMNMX", "VIMNMX",
			"PRMT", "VIADD", "MOV", "SGXT", "BMSK", "VOTE", "R2P", "PLOP"}, others: {}} {
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(op, n) }) {
			return pipe(p)
		}
	}
	return others
}

// loop is an innermost loop, or a kernel without any.
type loop struct {
	whole        bool // a kernel
	instructions int
	counts       [pipes]int
	calls        int
}

// cycles is the least time of an iteration of a warp, of the clocks of a multiprocessor that other
// warps fill.
func (l loop) cycles() float64 {
	most := float64(l.instructions) / issued
	for p, n := range l.counts {
		most = max(most, float64(n)/rates()[p])
	}
	return most
}

// kernel is a kernel's innermost loops, in order.
type kernel struct {
	name  string
	loops []loop
}

var (
	section     = regexp.MustCompile(`^\s*\.section\s+\.text\.([^,]+)`)
	label       = regexp.MustCompile(`^\s*(\.L\w+):`)
	instruction = regexp.MustCompile(`^\s*/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?);`)
	branch      = regexp.MustCompile("`\\((\\.L\\w+)\\)")
)

// kernelsOf reads a text of nvdisasm. A branch back ends a loop. Loops with loops in them are left
// out. A kernel without loops counts as one.
func kernelsOf(text string) (all []kernel) {
	var ops []string
	labels := map[string]int{}
	var spans [][2]int
	end := func() {
		if len(all) == 0 {
			return
		}
		k := &all[len(all)-1]
		for _, s := range spans {
			if slices.ContainsFunc(spans, func(o [2]int) bool { return o != s && o[0] >= s[0] && o[1] <= s[1] }) {
				continue
			}
			k.loops = append(k.loops, countPipes(ops[s[0]:s[1]]))
		}
		if len(spans) == 0 { // behind the last exit is padding
			for n := len(ops); n > 0; n-- {
				if strings.HasPrefix(ops[n-1], "EXIT") {
					l := countPipes(ops[:n])
					l.whole = true
					k.loops = append(k.loops, l)
					break
				}
			}
		}
		slices.SortStableFunc(k.loops, func(a, b loop) int { return cmp.Compare(b.cycles(), a.cycles()) })
		ops, labels, spans = nil, map[string]int{}, nil
	}
	for line := range strings.Lines(text) {
		if m := section.FindStringSubmatch(line); m != nil {
			end()
			all = append(all, kernel{name: m[1]})
		} else if m := label.FindStringSubmatch(line); m != nil {
			labels[m[1]] = len(ops)
		} else if m := instruction.FindStringSubmatch(line); m != nil {
			ops = append(ops, m[1])
			if to := branch.FindStringSubmatch(m[2]); to != nil && strings.HasPrefix(m[1], "BRA") {
				if from, back := labels[to[1]]; back && from < len(ops)-1 {
					spans = append(spans, [2]int{from, len(ops)})
				}
			}
		}
	}
	end()
	return all
}

func countPipes(ops []string) loop {
	l := loop{instructions: len(ops)}
	for _, op := range ops {
		l.counts[pipeOf(op)]++
		if strings.HasPrefix(op, "CALL") {
			l.calls++
		}
	}
	return l
}

var (
	entry     = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	frame     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
	shared    = regexp.MustCompile(`(\d+) bytes smem`)
)

// report writes a paragraph for each kernel: its registers, stack, spills and shared memory, and
// the loop that takes longest.
func report(w io.Writer, log, text string) error {
	loops := map[string][]loop{}
	for _, k := range kernelsOf(text) {
		loops[k.name] = k.loops
	}
	for _, part := range strings.Split(log, "Compiling entry function")[1:] {
		part = "Compiling entry function" + part
		number := func(r *regexp.Regexp, i int) int {
			if m := r.FindStringSubmatch(part); m != nil {
				n, _ := strconv.Atoi(m[i])
				return n
			}
			return 0
		}
		name := entry.FindStringSubmatch(part)
		if name == nil {
			return fmt.Errorf("ptxas says nothing that is known here: %s", part)
		}
		fmt.Fprintf(w, "%s: %d registers, %d bytes of stack, %d spilled, %d shared\n", name[1], number(registers, 1),
			number(frame, 1), number(frame, 2)+number(frame, 3), number(shared, 1))
		if all := loops[name[1]]; len(all) > 0 {
			fmt.Fprintf(w, "    %s\n", all[0])
		}
	}
	return nil
}

// String returns the counts, and the cycles for each word or product of matrices.
func (l loop) String() string {
	name := "longest loop"
	if l.whole {
		name = "no loop"
	}
	s := fmt.Sprintf("%s: %d instructions: %d popcounts, %d integer, %d memory, %d matrix; "+
		"%.1f cycles of a warp", name, l.instructions, l.counts[popcounts], l.counts[integers], l.counts[memory],
		l.counts[matrices], l.cycles())
	if n := l.counts[popcounts]; n > 0 {
		s += fmt.Sprintf(", %.2f a popcount", l.cycles()/float64(n))
	}
	if l.calls > 0 {
		s += fmt.Sprintf(", %d calls", l.calls)
	}
	return s
}
