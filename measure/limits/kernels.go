package limits

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"ripc/targets"
)

// Kernel is a loop of nothing but one kind of multiply-add, as fast as a machine can be: a limit
// for layers on it. Operands are in registers, or in the first cache where there are too few
// registers.
type Kernel struct {
	Limit string `json:"limit"` // one of Names
	Name  string `json:"name"`
	What  string `json:"what"` // for people: the instructions, and their results

	Arch  string   `json:"arch"`
	Needs []string `json:"needs"` // features, in the names of package targets
	// Register is the letter by which LLVM asks for a register that holds a Vector.
	Register string `json:"register"`

	Vector string `json:"vector"` // LLVM's type of everything
	// Lanes are independent copies of the step, so that no instruction waits for the one before.
	// Each has its own Sums, which a turn of the loop computes anew, and its Own operands. The
	// Shared ones are the same for all lanes, and others in each turn.
	Lanes  int      `json:"lanes"`
	Sums   []string `json:"sums"`
	Own    []string `json:"own"`
	Shared []string `json:"shared"`
	MACs   int64    `json:"macs"` // multiply-adds of a step

	Declare []string `json:"declare"`
	Step    []string `json:"step"` // LLVM IR; $ is the number of the lane, and %S.next.$ the next value of the sum S
}

//go:embed kernels.json
var kernels []byte

// Names lists the limits: multiply-adds of f32, of bytes, of bits, and look-ups of sums of several
// channels.
func Names() []string { return []string{"fp32", "int8", "bits", "table"} }

// Kernels lists all kernels, for any machine.
func Kernels() ([]Kernel, error) {
	d := json.NewDecoder(bytes.NewReader(kernels))
	d.DisallowUnknownFields()
	var ks []Kernel
	if err := d.Decode(&ks); err != nil {
		return nil, fmt.Errorf("kernels.json: %w", err)
	}
	return ks, nil
}

// Runs reports whether a machine can run the kernel.
func (k Kernel) Runs(t targets.Target) bool {
	if k.Arch != t.Arch {
		return false
	}
	for _, f := range k.Needs {
		if !t.Has(f) {
			return false
		}
	}
	return true
}

// slot is the size in memory of each operand and each sum, in bytes: that of the widest register.
const slot = 64

// Bytes is the size of the memory that the kernel reads and writes.
func (k Kernel) Bytes() int { return slot * (len(k.Shared) + k.Lanes*(len(k.Own)+len(k.Sums))) }

// symbol is the name of its function: void symbol(void *memory, int64_t turns).
func (k Kernel) symbol() string { return "limit_" + k.Name }

// LLVM is the kernel's module.
//
// An optimizer would hoist loop-invariant operations. So shared operands pass through empty inline
// assembly, which is no instruction, but opaque to the optimizer.
func (k Kernel) LLVM() []byte {
	var b, loop, end strings.Builder
	offset := 0
	load := func(name string) {
		fmt.Fprintf(&b, "  %%at.%s = getelementptr i8, ptr %%memory, i64 %d\n  %%%s = load %s, ptr %%at.%s, align 1\n",
			name, offset, name, k.Vector, name)
		offset += slot
	}
	for _, d := range k.Declare {
		fmt.Fprintf(&b, "declare %s\n", d)
	}
	fmt.Fprintf(&b, "\ndefine void @%s(ptr %%memory, i64 %%turns) {\nentry:\n", k.symbol())
	loop.WriteString("  br label %loop\n\nloop:\n  %turn = phi i64 [ 0, %entry ], [ %turn.next, %loop ]\n")
	phi := func(name, first, next string) {
		fmt.Fprintf(&loop, "  %%%s = phi %s [ %%%s, %%entry ], [ %%%s, %%loop ]\n", name, k.Vector, first, next)
	}
	for _, x := range k.Shared {
		load(x + ".first")
		phi(x+".last", x+".first", x)
	}
	for lane := range k.Lanes {
		for _, w := range k.Own {
			load(fmt.Sprintf("%s.%d", w, lane))
		}
		for _, s := range k.Sums {
			name, first, next := fmt.Sprintf("%s.%d", s, lane), fmt.Sprintf("%s.first.%d", s, lane),
				fmt.Sprintf("%s.next.%d", s, lane)
			fmt.Fprintf(&end, "  store %s %%%s, ptr %%at.%s, align 1\n", k.Vector, next, first)
			load(first)
			phi(name, first, next)
		}
	}
	for _, x := range k.Shared {
		fmt.Fprintf(&loop, "  %%%s = call %s asm sideeffect \"\", \"=%s,0\"(%s %%%s.last)\n", x, k.Vector,
			k.Register, k.Vector, x)
	}
	for lane := range k.Lanes {
		for _, line := range k.Step {
			fmt.Fprintf(&loop, "  %s\n", strings.ReplaceAll(line, "$", fmt.Sprint(lane)))
		}
	}
	loop.WriteString("  %turn.next = add i64 %turn, 1\n  %more = icmp slt i64 %turn.next, %turns\n  br i1 %more, " +
		"label %loop, label %end\n\nend:\n")
	return []byte(b.String() + loop.String() + end.String() + "  ret void\n}\n")
}
