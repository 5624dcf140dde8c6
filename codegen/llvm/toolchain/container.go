package toolchain

import (
	"context"

	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// container is a format of objects and libraries. Everything that differs between formats is a
// method of it.
type container interface {
	// maps says that the sections of Section lie in memory, so that code can refer to them.
	maps() bool
	// flags are llc's flags for objects that are linked.
	flags() []string
	// data makes an object of data.
	data(o *dataObject, row rows.Row) Object
	// link makes a library that needs nothing from elsewhere and shows the symbols in exports.
	link(ctx context.Context, t *Tools, row rows.Row, l linking) error
}

// linking holds the arguments of a link.
type linking struct {
	files    []string // objects, in dir
	exports  []string
	name     string // of the library
	dir, out string // folder for temporary files, and the path of the result
}

// containerOf is the format of a row's files.
func containerOf(row rows.Row) container {
	if row.Format == rows.WASM {
		return wasmFiles{}
	}
	return elfFiles{}
}

// MapsSections reports whether code for tg can refer to the symbols of Section.
func MapsSections(tg targets.Target) bool {
	row, _ := rows.Of(tg)
	return containerOf(row).maps()
}
