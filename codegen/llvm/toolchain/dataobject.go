package toolchain

import (
	"fmt"

	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// dataObject is an object of one section without code, as an assembler would make it. There is
// nothing in it to be relocated, so that it takes no tool.
type dataObject struct {
	section string
	retain  bool // the linker keeps the section even if nothing refers to it
	align   int
	data    [][]byte     // pieces
	size    int          // of all pieces
	symbols []dataSymbol // global and hidden
}

type dataSymbol struct {
	name     string
	at, size int
}

// add puts pieces behind the others.
func (o *dataObject) add(pieces ...[]byte) {
	for _, p := range pieces {
		o.data, o.size = append(o.data, p), o.size+len(p)
	}
}

// object returns the object for a target.
func (o *dataObject) object(tg targets.Target) (Object, error) {
	row, ok := rows.Of(tg)
	if !ok {
		return Object{}, fmt.Errorf("target %s: no objects for architecture %q", tg.Name, tg.Arch)
	}
	return containerOf(row).data(o, row), nil
}
