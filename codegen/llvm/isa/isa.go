// Package isa says what LLVM's back end writes for each instruction of targets/isa: declarations, one a line, and one
// internal function of the instruction's name that takes a pointer per parameter, aligned to the element, for LLVM to
// inline.
package isa

import (
	"maps"

	"ripc/ir"
	"ripc/targets/isa"
)

// Text is the text of instruction f. It fails with *ir.Error if targets/isa has no instruction of that name or another one
// than f, which a hand-written .ripir may hold: what runs would not be what the interpreter computes.
func Text(f *ir.Func) (string, error) {
	for _, i := range isa.All() {
		if i.Func.Name != f.Name {
			continue
		}
		if means := i.Func.String(); means != f.String() {
			return "", &ir.Error{Node: "@" + f.Name, Msg: "the instruction of this name means something else", Help: "it is\n" + means}
		}
		return text(i), nil
	}
	return "", &ir.Error{Node: "@" + f.Name, Msg: "there is no such instruction"}
}

// text is the text of i, "" if it has none.
func text(i isa.Instr) string {
	name, a := i.Func.Name, additionsOf(i)
	switch i.Meaning {
	case isa.XorCountTile:
		return tileText(name, i.Words, i.Lanes, i.Copies, a)
	case isa.Clear:
		return clearVector(name)
	case isa.WidenAdd:
		return addNeighbours(name, i.Type, a)
	case isa.WidenAddMemory:
		return addToMemory(name, i.Lanes, a)
	case isa.PackCompare:
		if a.pairwise != "" {
			return packLEText(name, a.packed, a.pairwise)
		}
	}
	return written()[name]
}

// additionsOf are the ways to add of the architecture of i; none where they are not needed.
func additionsOf(i isa.Instr) additions {
	var a additions
	switch i.Arch {
	case "aarch64":
		a = arm64Additions()
	case "arm":
		a = armAdditions()
	}
	if !i.Wide {
		a.load2 = ""
	}
	return a
}

// written are the texts that are written out, by the instruction's name.
func written() map[string]string {
	all := x86Texts()
	maps.Copy(all, arm64Texts())
	maps.Copy(all, armTexts())
	return all
}
