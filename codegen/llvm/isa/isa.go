// Package isa writes the instructions of targets/isa for LLVM's back end: each is an internal
// function of the instruction's name that takes a pointer per parameter, aligned to the element,
// for LLVM to inline.
//
// There is a function in Go for each meaning, of all element widths, numbers of lanes and words,
// and architectures:
//
//   - Most write LLVM's language by the methods of code. Values have numbers for names. A
//     popcount that is accumulated is on x86-64
//     c.addTo("acc", 0, 4, c.call(kind, "llvm.ctpop."+suffix(kind), c.op("xor", weights, word))),
//     which LLVM makes vpxord, vpopcntd and vpaddd of.
//   - Names that differ between architectures are in a table of mnemonics (machine). A tile of
//     such popcounts in bytes (xorCountTile) is the same code for 64-bit and 32-bit Arm, but for
//     an addition that LLVM must not take apart. That is "add" or "vadd.i8" in assembly, or uqadd
//     for cores that work in order.
//   - Rows, which are many operations, are pieces of assembly: chains of operations and loads in a
//     block. The block's scheduler finds the order and the registers by a table of the core's
//     times (timing). A row of popcounts (xorCountRow) is a chain of three operations for each
//     register of filters, with four texts for an architecture: "eor", "cnt" and "add", or "veor",
//     "vcnt.8" and "vadd.i8". Registers and the order of the chains differ as well.
package isa

import (
	"fmt"
	"strings"

	"ripc/ir"
	"ripc/targets/isa"
)

// Function is a function in LLVM's language, with the declarations of its calls.
type Function struct {
	Calls []Declaration
	Text  string
}

// Declaration is a function that LLVM itself has: an intrinsic.
type Declaration struct{ Result, Name, Params string }

// String is a line such as "declare i32 @llvm.ctpop.i32(i32)".
func (d Declaration) String() string {
	return fmt.Sprintf("declare %s @%s(%s)", d.Result, d.Name, d.Params)
}

// Core is the facts of a core by which the functions of an instruction differ.
type Core struct {
	InOrder      bool // takes instructions in their order
	SlowPairSums bool // targets.Target.SlowPairSums
	AndProducts  bool // products of matrices of bits are by "and", not by "xor"
}

// FunctionOf is the function of instruction f for a core. It fails with *ir.Error if targets/isa
// has no instruction of that name, or if that means something else than f, which a hand-written
// .ripir may hold: the code would differ from the interpreter.
func FunctionOf(f *ir.Func, core Core) (Function, error) {
	i, ok := isa.Named(f.Name)
	if !ok || i.Arch == "thumb" { // C alone is made for chips without an operating system
		return Function{}, &ir.Error{Node: "@" + f.Name, Msg: "there is no such instruction"}
	}
	if means := i.Func.String(); means != f.String() {
		return Function{}, &ir.Error{Node: "@" + f.Name, Msg: "the instruction of this name means something else",
			Help: "it is\n" + means}
	}
	return function(i, core), nil
}

// function is that of i.
func function(i isa.Instr, core Core) Function {
	c := &code{Instr: i, machine: machineOf(i.Arch, core)}
	writers()[i.Meaning](c)
	params := list(len(i.Func.Params), func(k int) string { return "ptr %" + i.Func.Params[k].Name })
	return Function{
		Calls: c.calls,
		Text: strings.Join(c.globals, "") + fmt.Sprintf("define internal void @%s(%s) alwaysinline {\n%s  ret "+
			"void\n}\n", i.Func.Name, params, c),
	}
}

// writers maps each meaning to the writer of its functions.
func writers() map[isa.Meaning]func(*code) {
	return map[isa.Meaning]func(*code){
		isa.XorCount: xorCount, isa.XorCountPair: xorCountPair, isa.XorCountTile: xorCountTile,
		isa.XorCountWindow: xorCountWindow, isa.XorCountMatrix: sumMatrices, isa.DotMatrix: sumMatrices,
		isa.DotBytes: dotBytes, isa.DotPairs: dotPairs, isa.DotChannels: dotChannels,
		isa.AddPairs: addPairs, isa.PackCompare: packCompare, isa.PackWord: packWord,
		isa.PackLess: packLess,
		isa.Clear:    clear, isa.WidenAdd: widenAdd, isa.WidenAddMemory: addToMemory, isa.LookUp: lookUp,
		isa.Tables:      tables,
		isa.XorCountRow: xorCountRow, isa.LookUpRow: lookUpRow, isa.FmaRow: fmaRow,
	}
}
