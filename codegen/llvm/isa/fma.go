package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// fmaRow is the function of isa.FmaRow: one piece of assembly with its sums in registers. The
// addresses that it moves are results, too. It is volatile, or LLVM would load an epilogue's scales
// between rows, where all registers are taken.
func fmaRow(c *code) {
	const floats = "<4 x float>"
	row := fmaLines{Instr: c.Instr, sums: c.Positions * c.Lanes / 4}
	row.write()
	results, constraints := slices.Repeat([]string{floats}, row.sums), slices.Repeat([]string{"=&w"}, row.sums)
	inputs, clobbers := []value{c.pointer("x", 0), c.pointer("w", 0)}, a64Clobbers(fmaInputs+2*c.Lanes/4)
	if c.Arch == "arm" {
		clobbers = registerNames("q", a32Inputs, 16-a32Inputs)
		results, constraints = append(results, "ptr", "ptr"), append(constraints, "=&r", "=&r",
			fmt.Sprint(row.sums), fmt.Sprint(row.sums+1), "r", "r")
		for _, n := range []int{c.Stride, 1 - (c.Positions-1)*c.Stride} {
			inputs = append(inputs, value{"i32", fmt.Sprint(4 * n)})
		}
	} else {
		constraints = append(constraints, "r", "r")
	}
	for s := range row.sums {
		inputs, constraints = append(inputs, c.load(floats, "acc", 16*s, 4)), append(constraints, fmt.Sprint(s))
	}
	code := assembly{text: row.text(), constraints: strings.Join(constraints, ","), clobbers: clobbers, volatile: true}
	news := c.asm(code, results, inputs...)
	for s := range row.sums {
		c.store(news[s], "acc", 16*s, 4)
	}
}

// fmaInputs is the number of registers for inputs.
const fmaInputs = 8

// a32Inputs is the first register for inputs on 32-bit Arm, behind those of sums.
const a32Inputs = 10

// writeA32 is write for 32-bit Arm. Its fused multiply-adds have no lanes, so each input fills a
// register. An input's load moves the address to the next position's, or to the next tap. Inputs
// have the registers that the weights of a tap leave, one after the other.
func (f *fmaLines) writeA32() {
	filters, inputs := f.Lanes/4, f.Taps*f.Positions
	w := 16 - filters
	x := func(n int) int { return a32Inputs + n%(w-a32Inputs) }
	input := func(n int) {
		if n < inputs {
			step := f.sums + 4
			if n%f.Positions == f.Positions-1 {
				step++
			}
			f.line("vld1.32 {d%d[], d%d[]}, [$%d], $%d", 2*x(n), 2*x(n)+1, f.sums, step)
		}
	}
	weights := func() { f.line("vldmia $%d!, {d%d-d%d}", f.sums+1, 2*w, 2*(w+filters)-1) }
	weights()
	for n := range w - a32Inputs {
		input(n)
	}
	for n := range inputs {
		p := n % f.Positions
		for o := range filters {
			f.line("vfma.f32 ${%d:q}, q%d, q%d", p*filters+o, w+o, x(n))
		}
		if p == f.Positions-1 && n < inputs-1 {
			weights()
		}
		input(n + w - a32Inputs)
	}
}

// fmaLines writes the assembly of FmaRow for a core that takes instructions in order and writes
// their results in order. There, a load waits for the multiplications before it, and a quick
// operation waits longest. So loads of inputs stand together, and addresses in pairs with them.
// The weights of a tap are one load of four registers, which hardly waits. That of the first tap
// goes before all others, that of the next tap but one begins when a tap is done.
type fmaLines struct {
	listing
	isa.Instr
	sums   int
	starts map[int]int    // the registers of addresses of weights, by tap
	inputs [fmaInputs]int // the element that each register of inputs begins with, or -1
	loaded int            // taps with loaded weights
}

func (f *fmaLines) write() {
	if f.Arch == "arm" {
		f.writeA32()
		return
	}
	f.starts = map[int]int{}
	for k := range f.inputs {
		f.inputs[k] = -1
	}
	for t := 0; t < f.Taps; {
		end := t + 1
		for end < f.Taps && len(f.vectors(t, end+1)) <= fmaInputs {
			end++
		}
		if t == 0 {
			f.loadWeights()
		}
		f.loadInputs(f.vectors(t, end))
		if t == 0 && f.loaded < f.Taps {
			f.loadWeights()
		}
		for ; t < end; t++ {
			f.multiply(t)
			if f.loaded < f.Taps {
				f.loadWeights()
			}
		}
	}
}

// remaining returns the number of inputs from element e on.
func (f *fmaLines) remaining(e int) int { return (f.Positions-1)*f.Stride + f.Taps - e }

// vector returns the first element of the vector that holds element e of the inputs. Vectors begin
// at multiples of four elements. If three elements remain, the last one begins one element earlier.
func (f *fmaLines) vector(e int) int {
	first := e / 4 * 4
	if f.remaining(first) == 3 {
		return first - 1
	}
	return first
}

// vectors lists the first elements of the vectors that taps from t to end read, in the order of
// their use.
func (f *fmaLines) vectors(t, end int) []int {
	var all []int
	for ; t < end; t++ {
		for p := range f.Positions {
			if first := f.vector(p*f.Stride + t); !slices.Contains(all, first) {
				all = append(all, first)
			}
		}
	}
	return all
}

// address writes the address of the next weights that have none. It returns false if there are none
// or no register is free.
func (f *fmaLines) address() bool {
	free := a64Starts().free
	for t, k := range f.starts {
		if t >= f.loaded {
			free = slices.DeleteFunc(free, func(r int) bool { return r == k })
		}
	}
	for t := max(1, f.loaded); t < f.Taps && len(free) > 0; t++ {
		if _, ok := f.starts[t]; !ok {
			f.line("add x%d, $%d, #%d", free[0], f.sums+1, 4*f.Lanes*t)
			f.starts[t] = free[0]
			return true
		}
	}
	return false
}

// addresses writes the addresses of the next weights while registers are free.
func (f *fmaLines) addresses() {
	for f.address() {
	}
}

// loadInputs loads vectors into registers that hold none of them, and writes the next addresses.
func (f *fmaLines) loadInputs(vectors []int) {
	for _, v := range vectors {
		if slices.Contains(f.inputs[:], v) {
			continue
		}
		f.address()
		k := slices.IndexFunc(f.inputs[:], func(e int) bool { return !slices.Contains(vectors, e) })
		f.inputs[k] = v
		part := map[int]string{1: "s", 2: "d", 4: "q"}[min(4, f.remaining(v))]
		f.line("ldr %s%d, [$%d, #%d]", part, k, f.sums, 4*v)
	}
	f.addresses()
}

// loadWeights loads the weights of the next tap.
func (f *fmaLines) loadWeights() {
	t, n := f.loaded, f.Lanes/4
	from := fmt.Sprint("$", f.sums+1)
	if t > 0 {
		if f.starts[t] == 0 {
			f.addresses()
		}
		from = fmt.Sprint("x", f.starts[t])
	}
	first := f.weights(t)
	f.line("ld%d {v%d.4s-v%d.4s}, [%s]", n, first, first+n-1, from)
	f.loaded++
}

// weights is the first register of the weights of a tap.
func (f *fmaLines) weights(t int) int { return fmaInputs + t%2*(f.Lanes/4) }

// multiply writes the multiplications of a tap.
func (f *fmaLines) multiply(t int) {
	n := f.Lanes / 4
	for p := range f.Positions {
		e := p*f.Stride + t
		first := f.vector(e)
		x := slices.Index(f.inputs[:], first)
		for o := range n {
			f.line("fmla $%d.4s, v%d.4s, v%d.s[%d]", p*n+o, f.weights(t)+o, x, e-first)
		}
	}
}
