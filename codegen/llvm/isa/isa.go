// Package isa says what LLVM's back end writes for each instruction of targets/isa: an internal function of the instruction's
// name that takes a pointer per parameter, aligned to the element, for LLVM to inline.
package isa

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/targets/isa"
)

// Function is a function in LLVM's language, and what it calls.
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

// all lists the instructions that LLVM makes: C alone is made for chips without an operating system.
func all() []isa.Instr {
	return slices.DeleteFunc(isa.All(), func(i isa.Instr) bool { return i.Arch == "thumb" })
}

// FunctionOf is the function of instruction f, for a core that takes instructions in order or in any. It fails with *ir.Error if targets/isa has no instruction of that name or another one
// than f, which a hand-written .ripir may hold: what runs would not be what the interpreter computes.
func FunctionOf(f *ir.Func, inOrder bool) (Function, error) {
	for _, i := range all() {
		if i.Func.Name != f.Name {
			continue
		}
		if means := i.Func.String(); means != f.String() {
			return Function{}, &ir.Error{Node: "@" + f.Name, Msg: "the instruction of this name means something else", Help: "it is\n" + means}
		}
		return function(i, inOrder), nil
	}
	return Function{}, &ir.Error{Node: "@" + f.Name, Msg: "there is no such instruction"}
}

// function is that of i, without text if it has none.
func function(i isa.Instr, inOrder bool) Function {
	name, a := i.Func.Name, additionsOf(i, inOrder)
	switch i.Meaning {
	case isa.XorCountTile:
		return tile(name, i.Words, i.Lanes, i.Copies, a)
	case isa.XorCountRow:
		return row(i)
	case isa.XorCountWindow:
		return carryTree(i)
	case isa.LookUpRow:
		switch {
		case i.Arch == "arm":
			return armLookUps(i)
		case i.Halves:
			return lookUpHalvesRow(i, inOrder)
		case i.Taps > 0:
			return lookUpWideRow(i)
		}
		return lookUps(i)
	case isa.Clear:
		return clearVector(name)
	case isa.WidenAdd:
		return addNeighbours(name, i.Type, a)
	case isa.WidenAddMemory:
		return addToMemory(name, sumsOf(i)/8, a)
	case isa.LookUp:
		switch i.Arch {
		case "aarch64":
			return arm64LookUp(i, a)
		case "arm":
			return armLookUp(i, a)
		}
		return lookUp(i)
	case isa.Tables:
		if i.Arch != "x86_64" {
			return armTables(i)
		}
		return tables(i)
	case isa.LookUpLevels:
		return levels(i)
	case isa.DotPairs:
		if i.Arch == "x86_64" {
			return multiplyAddPairs(i)
		}
		return dotPairs(i)
	case isa.AddPairs:
		return addPairs(i)
	case isa.DotBytes:
		if i.Arch == "x86_64" && i.Ops > 1 {
			return multiplyAdd(i)
		}
	case isa.PackLess:
		return packLess(name, i.Planes)
	case isa.PackCompare:
		switch i.Arch {
		case "aarch64":
			return packLE(name)
		case "arm":
			return packShifted(name)
		}
	}
	return written()[name]
}

// sumsOf is how many sums i adds to.
func sumsOf(i isa.Instr) int {
	sums := 1
	for _, n := range i.Func.Params[0].Shape {
		sums *= n
	}
	return sums
}

// additionsOf are the ways to add of the architecture of i; none where they are not needed.
func additionsOf(i isa.Instr, inOrder bool) additions {
	var a additions
	switch i.Arch {
	case "aarch64":
		a = arm64Additions(inOrder)
	case "arm":
		a = armAdditions()
	}
	if !i.Wide {
		a.load2 = ""
	}
	return a
}

// written are the functions that are written out, by the instruction's name.
func written() map[string]Function {
	all := x86Texts()
	maps.Copy(all, arm64Texts())
	return all
}
