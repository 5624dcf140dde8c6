package isa

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ripc/ir/interp"
	"ripc/targets/isa"
)

// TestMatrix runs the functions of products of matrices, and of ballots, on 32 emulated threads, with PTX's layout of the products' operands, and
// compares all sums with the interpreter's. A text that reads one wrong word fails.
func TestMatrix(t *testing.T) {
	n := 0
	for _, i := range isa.All() {
		if i.Func.Threads != 32 || i.Taps == 5 && i.Words > 4 {
			continue
		}
		n++
		args := make([][]byte, len(i.Func.Params))
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for k, p := range i.Func.Params {
			args[k] = make([]byte, p.Bytes())
			for j := range args[k] {
				args[k][j] = byte(r.Uint32())
			}
		}
		code, err := interp.CompileChecked(i.Func)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]byte{slices.Clone(args[0]), args[1], args[2]}
		if err := code.Run(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		for _, and := range []bool{false, true} {
			f, err := FunctionOf(i.Func, Core{AndProducts: and})
			if err != nil {
				t.Fatal(err)
			}
			memory, out := map[string][]byte{}, slices.Clone(args[0])
			for k, p := range i.Func.Params {
				memory["%"+p.Name] = append([][]byte{out}, args[1:]...)[k]
			}
			w := newWarp(memory)
			if err := w.run(f.Text); err != nil {
				t.Fatalf("%s: %v", i.Func.Name, err)
			}
			if i.Meaning == isa.XorCountMatrix && strings.Contains(f.Text, "mma.xor") == and || w.together == 0 {
				t.Errorf("%s: %d products or ballots in\n%s", i.Func.Name, w.together, f.Text)
			}
			if string(out) != string(want[0]) {
				t.Errorf("%s, by and %t: sums differ", i.Func.Name, and)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d instructions", n)
	}
}

// warp emulates 32 threads that run a function without branches in step.
type warp struct {
	memory   map[string][]byte
	values   map[string]*[32]place
	together int // products of matrices, and ballots
}

// place is a number, or an address in a parameter.
type place struct {
	in    string
	n     int64
	parts [4]uint32 // of a structure
}

func newWarp(memory map[string][]byte) *warp {
	return &warp{memory: memory, values: map[string]*[32]place{}}
}

var (
	assignment = regexp.MustCompile(`^(%\w+) = (\w+) (.*)$`)
	callOf     = regexp.MustCompile(`@([\w.]+)\((.*)\)$`)
)

// of is an operand: the last word of a text such as "i32 %v1".
func (w *warp) of(text string, lane int) place {
	name := text[strings.LastIndexByte(text, ' ')+1:]
	if v := w.values[name]; v != nil {
		return v[lane]
	}
	if _, ok := w.memory[name]; ok {
		return place{in: name}
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		panic("no value " + text)
	}
	return place{n: n}
}

func (w *warp) run(text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[1 : len(lines)-1] {
		line, _, _ = strings.Cut(strings.TrimSpace(line), ", align")
		if to, ok := strings.CutPrefix(line, "store "); ok {
			v, at, _ := strings.Cut(to, ", ")
			for lane := range 32 {
				p := w.of(at, lane)
				binary.LittleEndian.PutUint32(w.memory[p.in][p.n:], uint32(w.of(v, lane).n))
			}
		} else if m := assignment.FindStringSubmatch(line); m != nil {
			w.set(m[1], m[2], m[3])
		} else if line != "ret void" {
			return fmt.Errorf("no meaning of %q", line)
		}
	}
	return nil
}

// set is the line name = op rest.
func (w *warp) set(name, op, rest string) {
	args := strings.Split(rest, ", ")
	out := &[32]place{}
	if m := callOf.FindStringSubmatch(rest); op == "call" && strings.Contains(m[1], "mma") {
		w.multiply(m[1], strings.Split(m[2], ", "), out)
		w.values[name] = out
		return
	}
	if m := callOf.FindStringSubmatch(rest); op == "call" && strings.HasSuffix(m[1], "ballot.sync") {
		w.together++
		bits := int64(0)
		for lane := range out {
			bits |= w.of(m[2], lane).n << lane
		}
		for lane := range out {
			out[lane].n = bits
		}
		w.values[name] = out
		return
	}
	for lane := range out {
		a := func(k int) int64 { return int64(uint32(w.of(args[k], lane).n)) }
		p := &out[lane]
		switch op {
		case "and":
			p.n = a(0) & a(1)
		case "xor":
			p.n = a(0) ^ a(1)
		case "shl":
			p.n = a(0) << a(1)
		case "lshr":
			p.n = a(0) >> a(1)
		case "add":
			p.n = a(0) + a(1)
		case "mul":
			p.n = a(0) * a(1)
		case "udiv":
			p.n = a(0) / a(1)
		case "urem":
			p.n = a(0) % a(1)
		case "zext":
			p.n = int64(uint32(w.of(strings.TrimSuffix(rest, " to i64"), lane).n))
		case "icmp":
			if strings.HasPrefix(rest, "ult") && a(0) < a(1) || strings.HasPrefix(rest, "sle") && int32(a(0)) <= int32(a(1)) {
				p.n = 1
			}
		case "select":
			if *p = w.of(args[2], lane); a(0) != 0 {
				*p = w.of(args[1], lane)
			}
		case "getelementptr":
			*p = w.of(args[1], lane)
			p.n += w.of(args[2], lane).n
		case "load":
			from := w.of(args[1], lane)
			p.n = int64(binary.LittleEndian.Uint32(w.memory[from.in][from.n:]))
		case "extractvalue":
			k, _ := strconv.Atoi(args[len(args)-1])
			all := strings.Fields(rest[:strings.LastIndexByte(rest, ',')])
			p.n = int64(w.values[all[len(all)-1]][lane].parts[k])
		case "call":
			switch m := callOf.FindStringSubmatch(rest); m[1] {
			case "llvm.nvvm.read.ptx.sreg.tid.x":
				p.n = int64(lane) + 32 // of the second warp
			case "llvm.umin.i32":
				both := strings.Split(m[2], ", ")
				p.n = min(w.of(both[0], lane).n, w.of(both[1], lane).n)
			default:
				panic("no meaning of " + m[1])
			}
		default:
			panic("no meaning of " + op)
		}
	}
	w.values[name] = out
}

// multiply is mma.sync of bits or bytes by PTX's description: thread 4g+t has words t and t+4 of rows g and g+8 of the first matrix, in the
// order of columns, words t and t+4 of column g of the second, and columns 2t and 2t+1 of the sums of rows g and g+8.
func (w *warp) multiply(name string, args []string, out *[32]place) {
	w.together++
	halves := 2
	if strings.Contains(name, "k128") || strings.Contains(name, "k16") {
		halves = 1
	}
	var a [16][8]uint32
	var b [8][8]uint32
	for lane := range 32 {
		g, t := lane/4, lane%4
		for h := range halves {
			a[g][t+4*h] = uint32(w.of(args[2*h], lane).n)
			a[g+8][t+4*h] = uint32(w.of(args[2*h+1], lane).n)
			b[g][t+4*h] = uint32(w.of(args[2*halves+h], lane).n)
		}
	}
	for lane := range 32 {
		for k := range 4 {
			row, column := lane/4+8*(k/2), lane%4*2+k%2
			sum := uint32(w.of(args[3*halves+k], lane).n)
			for word := range 4 * halves {
				both := a[row][word] ^ b[column][word]
				if strings.Contains(name, ".and.") {
					both = a[row][word] & b[column][word]
				}
				if !strings.HasSuffix(name, ".u8.s8") {
					sum += uint32(bits.OnesCount32(both))
					continue
				}
				for at := 0; at < 32; at += 8 {
					sum += uint32(int32(uint8(a[row][word]>>at)) * int32(int8(b[column][word]>>at)))
				}
			}
			out[lane].parts[k] = sum
		}
	}
}
