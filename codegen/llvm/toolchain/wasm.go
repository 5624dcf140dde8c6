package toolchain

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"ripc/codegen/llvm/rows"
)

// wasmFiles is the container of WebAssembly. A library is a module without imports, and a named
// section lies beside its memory, not in it.
type wasmFiles struct{}

func (wasmFiles) maps() bool      { return false }
func (wasmFiles) flags() []string { return nil }

// link strips names, since the linker writes that of the temporary file among them. Callers lay out
// memory behind __heap_base. A memory that is shared is the caller's own, and each instance needs a
// stack of its own: __stack_pointer is that of the first one.
func (wasmFiles) link(ctx context.Context, t *Tools, row rows.Row, l linking) error {
	args := []string{"--no-entry", "--gc-sections", "--fatal-warnings", "--strip-all", "--threads=1", "--stack-first",
		"--export=__heap_base", "--export=__stack_pointer"}
	if row.Shares {
		args = append(args, "--import-memory", "--shared-memory", fmt.Sprint("--max-memory=", int64(1)<<32))
	}
	for _, e := range l.exports {
		args = append(args, "--export="+e)
	}
	_, err := t.run(ctx, l.dir, "wasm-ld", nil, append(append(args, "-o", l.out), l.files...)...)
	return err
}

// Numbers of the format of objects (WebAssembly's tool conventions, "Linking").
const (
	customID, importID, dataID = 0, 2, 11
	linkingVersion             = 2
	segmentInfo, symbolTable   = 5, 8
	dataKind, hiddenFlag       = 1, 4
	memoryImport               = 2
	constOp, endOp             = 0x41, 0x0b
)

// data makes an object with a segment of memory, or with a section beside it.
func (wasmFiles) data(o *dataObject, _ rows.Row) Object {
	number := func(to []byte, n int) []byte { return binary.AppendUvarint(to, uint64(n)) }
	name := func(to []byte, s string) []byte { return append(number(to, len(s)), s...) }
	section := func(to []byte, id byte, head []byte, more int) []byte {
		return append(number(append(to, id), len(head)+more), head...)
	}
	object := []byte("\x00asm\x01\x00\x00\x00")
	link := number(name(nil, "linking"), linkingVersion)
	if o.retain {
		object = section(object, customID, link, 0)
		object = section(object, customID, name(nil, o.section), o.size)
		return Object{Data: object, More: o.data}
	}
	memory := append(name(name([]byte{1}, "env"), "__linear_memory"), memoryImport, 0, 0)
	object = section(object, importID, memory, 0)
	object = section(object, dataID, number([]byte{1, 0, constOp, 0, endOp}, o.size), o.size)
	info := append(name([]byte{1}, o.section), byte(bits.TrailingZeros(uint(o.align))), 0)
	symbols := number(nil, len(o.symbols))
	for _, s := range o.symbols {
		symbols = name(append(symbols, dataKind, hiddenFlag), s.name)
		symbols = number(number(number(symbols, 0), s.at), s.size)
	}
	link = section(section(link, segmentInfo, info, 0), symbolTable, symbols, 0)
	return Object{Data: object, More: append(o.data, section(nil, customID, link, 0))}
}
