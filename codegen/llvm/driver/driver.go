// Package driver emits the driver of a Program: the entry that every thread calls, which runs the
// stages one after the other. It is plain LLVM text: no thread is started, no memory is allocated
// and no library is called.
//
//	i32 NAME_run(ptr in, ptr out, ptr workspace, i32 tid, i32 nthreads, ptr sync)
//	i32 NAME_run_stages(ptr in, ptr out, ptr workspace, i32 tid, i32 nthreads, ptr sync,
//	                    i32 first, i32 last)
//	size_t NAME_workspace_size(i32 nthreads)
//	ptr NAME_describe()
//	i32 NAME_run_HASH(...), which is NAME_run
//
// NAME_cpu_ok, which runs on CPUs that cannot run the rest, is a module of its own (CPU).
//
// in and out are arrays of pointers, in the order of the Program's input and output buffers.
// run_stages runs the stages first..last-1. All threads must call it with the same arguments but
// for their tid.
//
// Several threads share the units of each stage (driver.ll). A thread takes its own units first,
// then those that others have not begun, and a stage is opened once the units before it are done.
// So a thread that the system has taken from its processor holds up the others only by the unit
// that it runs. Threads without work look for it a while, then sleep in the kernel.
//
// A call counts for the first run in which no other call with the same tid counts. A run ends when
// all nthreads calls have returned.
//
// The result is 0 if all is well. It is 1 if tid is not below nthreads, nthreads is above 256, or
// sync is needed and null. It is 2 if a buffer or an array of pointers is null, or a buffer or sync
// is not 64-byte aligned. It is 3 if first is above last or last above the number of stages.
//
// Floats are computed with subnormals flushed to zero, rounding to nearest; the caller's settings
// come back at the end.
package driver

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"

	"ripc/codegen/llvm/rows"
	"ripc/internal/abi"
	"ripc/ir"
	"ripc/targets"
)

// DriverInfo names the symbols that a driver refers to. All are hidden ones of other objects.
type DriverInfo struct {
	Name     string            // NAME, a C identifier
	Run      string            // NAME_run_HASH; may be empty
	Kernels  map[string]string // symbols, by the Func's name
	Units    map[string]int    // of a thread's part, by the Func's name (codegen.Units)
	Weights  string            // symbol of all constants; may be empty if there are none
	Offsets  map[string]int64  // of each constant buffer in Weights, multiples of 64
	Describe string            // symbol that NAME_describe returns; "" for a text of its own, "{}"
	Arena    int64             // bytes of activations
	Scratch  int64             // bytes of each thread
}

// maxStages bounds the number of a stage, which has 16 bits in a thread's word.
const maxStages = 1<<16 - 1

// driver is the input of the template.
type driver struct {
	DriverInfo
	Arch                             arch
	Row                              rows.Row
	ABI                              sync // offsets in ripc_sync
	MaxThreads                       int
	Seats                            []int // words of the seats, the first one last
	BadThreads, BadBuffer, BadStages int   // results
	Narrow                           bool  // addresses have 32 bits
	Workspace                        bool  // it is used
	Arrays                           []array
	Checks                           []string // of pointers, but the first one
	Kernels                          []kernel
	Stages                           []stage
	AllUnits                         []int // that stages have
}

// sync has the offsets in ripc_sync.
type sync struct{ Entered, Left, Units, Seats, Stage, Asleep, Claims int }

// array is an argument of run with N pointers to buffers.
type array struct {
	Name string
	N    int
}

// kernel is a function to be declared.
type kernel struct {
	Symbol string
	Args   []string
}

// stage is a call of a kernel.
type stage struct {
	Name, Kernel string
	Units        int // of a thread's part
	Places       []place
	Args         []string
}

// place is the address of a buffer.
type place struct {
	Pointer, Base string
	Offset        int64
}

//go:embed driver.ll
var driverText string

// Driver emits the driver of p. It fails if the Program refers to something that it or d does not
// have.
func Driver(p *ir.Program, info DriverInfo, t targets.Target) ([]byte, error) {
	a, ok := archs(t.Arch)
	if !ok {
		return nil, fmt.Errorf("driver of %s: no driver for architecture %q", info.Name, t.Arch)
	}
	info.Arena, info.Scratch = abi.RoundUp(info.Arena), abi.RoundUp(info.Scratch)
	size := info.Arena + info.Scratch
	if len(p.Stages) > maxStages {
		return nil, fmt.Errorf("driver of %s: %d stages, at most %d are possible", info.Name, len(p.Stages), maxStages)
	}
	d := &driver{DriverInfo: info, Arch: a, BadThreads: abi.BadThreads, BadBuffer: abi.BadBuffer,
		ABI:        sync{abi.Entered, abi.Left, abi.Units, abi.Seats, abi.Stage, abi.Asleep, abi.Claims},
		MaxThreads: abi.MaxThreads, Seats: seatWords(),
		BadStages: abi.BadStages, Narrow: t.PointerBits() == 32, Workspace: size > 0}
	if d.Narrow && size > math.MaxInt32 {
		return nil, fmt.Errorf("driver of %s: a workspace of %d bytes does not fit the address space of target %s",
			d.Name,
			size, t.Name)
	}
	d.Row, _ = rows.Of(t)
	places := d.arrays(p)
	declared, index := map[string]bool{}, p.Index()
	for i, s := range p.Stages {
		symbol, ok := d.DriverInfo.Kernels[s.Func]
		if !ok {
			return nil, fmt.Errorf("driver of %s: stage %q: no kernel for @%s", d.Name, s.Name, s.Func)
		}
		if !declared[symbol] {
			declared[symbol] = true
			d.Kernels = append(d.Kernels, kernel{symbol, s.Args})
		}
		st := stage{Name: strings.Map(printable, s.Name), Kernel: symbol, Units: d.Units[s.Func]}
		for j, name := range s.Args {
			if ptr := places[name]; ptr != "" {
				st.Args = append(st.Args, ptr)
				continue
			}
			at, err := d.place(index.Buffer(name), name)
			if err != nil {
				return nil, fmt.Errorf("driver of %s: stage %q: %w", d.Name, s.Name, err)
			}
			at.Pointer = fmt.Sprintf("%%arg.%d.%d", i, j)
			st.Places, st.Args = append(st.Places, at), append(st.Args, at.Pointer)
		}
		d.Stages = append(d.Stages, st)
		if st.Units > 0 && !slices.Contains(d.AllUnits, st.Units) {
			d.AllUnits = append(d.AllUnits, st.Units)
		}
	}
	var out bytes.Buffer
	err := template.Must(template.New("driver.ll").Parse(driverText)).Execute(&out, d)
	return out.Bytes(), err
}

// arrays lists the arrays of pointers and the checks of these, and returns the pointers by buffer.
func (d *driver) arrays(p *ir.Program) map[string]string {
	places := map[string]string{}
	d.Checks = []string{"ws.aligned"}
	if d.Workspace {
		d.Checks = append(d.Checks, "ws.given")
	}
	for kind, name := range []string{ir.InputBuf: "in", ir.OutputBuf: "out"} {
		n := 0
		for _, b := range p.Buffers {
			if b.Kind == ir.BufKind(kind) {
				pointer := fmt.Sprintf("%s.%d", name, n)
				places[b.Name] = "%" + pointer
				d.Checks = append(d.Checks, pointer+".aligned", pointer+".given")
				n++
			}
		}
		d.Arrays = append(d.Arrays, array{name, n})
	}
	return places
}

// seatWords returns the numbers of the words of the seats, the first one last.
func seatWords() []int {
	words := make([]int, abi.MaxThreads/32)
	for i := range words {
		words[i] = len(words) - 1 - i
	}
	return words
}

// place gives the address of b, called name, in the workspace or in the weights.
func (d *driver) place(b *ir.ProgBuf, name string) (place, error) {
	if b == nil {
		return place{}, fmt.Errorf("there is no buffer %%%s", name)
	}
	if b.Kind == ir.ArenaBuf {
		if b.Offset < 0 || b.Offset+int64(b.Bytes()) > d.Arena {
			return place{}, fmt.Errorf("%%%s is outside the arena of %d bytes", name, d.Arena)
		}
		return place{Base: "%ws", Offset: b.Offset}, nil
	}
	off, ok := d.Offsets[name]
	if !ok || d.Weights == "" {
		return place{}, fmt.Errorf("constant %%%s has no place in the weights", name)
	}
	return place{Base: "@" + d.Weights, Offset: off}, nil
}

// printable replaces characters in a stage's name that could end the comment around it, or display
// misleadingly.
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
