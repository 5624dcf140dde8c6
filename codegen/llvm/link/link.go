// Package link joins objects into a shared library without a tool, in a fraction of a tool's
// starting time. Only ripc itself loads the result. Objects of ripc's modules need little of a
// linker: code and constants refer to each other by distance, so the dynamic linker only has to
// find the exports. Everything else is an error, and left to ld.lld (package toolchain), which also
// links the users' files.
package link

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/elfbytes"
	"ripc/targets"
)

// definition is a symbol that other objects may refer to.
type definition struct {
	section *section
	symbol  elf.Symbol
}

// linker is a library in the making.
type linker struct {
	row     rows.Row
	arch    arch
	objects []*object
	defined map[string]*definition
	// undefined are names that sections which are kept refer to, and nobody defines.
	undefined []string
}

// SharedLibrary returns the shared library of objs for a target, as toolchain.Tools.LinkShared
// makes it. Only the symbols in exports are visible; functions and data that they do not reach are
// dropped. It needs no other library, and depends on nothing but the arguments. It has no
// relocations, and no writable data but the dynamic linker's own.
//
// It fails with *UnsupportedError, *toolchain.UndefinedError, *toolchain.ExportError or
// *toolchain.SymbolError.
func SharedLibrary(tg targets.Target, objs []toolchain.Object, exports []string,
	soname string) (lib []byte, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			lib, err = nil, r.error
		default:
			panic(r)
		}
	}()
	row, ok := rows.Of(tg)
	a, known := archs()[row.Machine]
	if !ok || !known {
		return nil, fmt.Errorf("target %s: no relocations are known for architecture %q", tg.Name, tg.Arch)
	}
	if err := toolchain.CheckExports(exports); err != nil {
		return nil, err
	}
	l := &linker{row: row, arch: a, defined: map[string]*definition{}}
	for _, file := range objs {
		o := read(file, row)
		l.objects = append(l.objects, o)
		l.define(o)
	}
	shown := l.exportedSymbols(exports)
	l.keep(shown)
	f := l.layout(shown, soname)
	if last := f.names; row.Class == elf.ELFCLASS32 && last.off+last.size >= 1<<31-programs*row.PageSize {
		return nil, fmt.Errorf("%d bytes are too many for a library of a 32-bit program", last.off+last.size)
	}
	lib = f.bytes()
	l.relocate(f, lib)
	return lib, nil
}

// define adds o's global symbols.
func (l *linker) define(o *object) {
	for _, s := range o.symbols[1:] {
		if elf.ST_BIND(s.Info) == elf.STB_LOCAL || s.Section == elf.SHN_UNDEF {
			continue
		}
		if elf.ST_BIND(s.Info) != elf.STB_GLOBAL {
			o.fail("symbol %q of binding %v", s.Name, elf.ST_BIND(s.Info))
		}
		if l.defined[s.Name] != nil {
			panic(failure{&toolchain.SymbolError{Symbol: s.Name, Repeated: true}})
		}
		l.defined[s.Name] = &definition{o.home(s), s}
	}
}

// exportedSymbols are the symbols of the names in exports.
func (l *linker) exportedSymbols(exports []string) []*definition {
	var all []*definition
	var missing []string
	for _, name := range exports {
		if d := l.defined[name]; d == nil || elf.ST_VISIBILITY(d.symbol.Other) != elf.STV_DEFAULT {
			missing = append(missing, name)
		} else {
			all = append(all, d)
		}
	}
	if len(missing) > 0 {
		panic(failure{&toolchain.ExportError{Missing: missing}})
	}
	return all
}

// keep marks the sections that the given symbols reach, and sections with a flag that keeps them.
func (l *linker) keep(shown []*definition) {
	var todo []*section
	reach := func(s *section) {
		if !s.isKept {
			s.isKept = true
			todo = append(todo, s)
		}
	}
	for _, d := range shown {
		if d.symbol.Value > uint64(len(d.section.data)) {
			d.section.fail("symbol %q at %#x", d.symbol.Name, d.symbol.Value)
		}
		reach(d.section)
	}
	for _, o := range l.objects {
		for _, s := range o.sections {
			if s.header.Flags&(elf.SHF_ALLOC|elfbytes.Retain) == elf.SHF_ALLOC|elfbytes.Retain {
				reach(s)
			}
		}
	}
	find := func(name string) *definition {
		d := l.defined[name]
		if d == nil && !slices.Contains(l.undefined, name) {
			l.undefined = append(l.undefined, name)
		}
		return d
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s.usable()
		s.decode(l.arch, l.row.Class, find)
		for _, r := range s.relocs {
			reach(r.section)
		}
	}
	if len(l.undefined) > 0 {
		slices.Sort(l.undefined)
		panic(failure{&toolchain.UndefinedError{Symbols: l.undefined}})
	}
}

// hidden returns the symbols of kept sections that are not in shown: functions, data, and symbols
// that other objects refer to.
func (l *linker) hidden(shown []*definition) []*definition {
	var all []*definition
	for _, o := range l.objects {
		for _, s := range o.symbols[1:] {
			kind, global := elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info) != elf.STB_LOCAL
			if s.Section == elf.SHN_UNDEF || int(s.Section) >= len(o.sections) ||
				!global && kind != elf.STT_FUNC && kind != elf.STT_OBJECT {
				continue
			}
			in := o.sections[s.Section]
			if d := l.defined[s.Name]; in.isKept && !(global && slices.Contains(shown, d)) {
				all = append(all, &definition{in, s})
			}
		}
	}
	return all
}

// relocate changes the library's bytes as the relocations say.
func (l *linker) relocate(f *file, lib []byte) {
	for _, p := range f.parts {
		for _, s := range p.sections {
			code := lib[p.off+s.addr-p.addr:][:len(s.data)]
			for i := 0; i < len(s.relocs); i++ {
				r := s.relocs[i]
				if l.arch.shorten != nil && i+1 < len(s.relocs) && s.relocs[i+1].offset == r.offset+4 &&
					l.arch.shorten(r, s.relocs[i+1], code[r.offset:], s.addr+r.offset) {
					i++
					continue
				}
				word, ok := r.kind.put(binary.LittleEndian.Uint32(code[r.offset:]), r.target(), s.addr+r.origin)
				if !ok {
					s.fail("the target of the relocation at %#x is too far away, or not aligned", r.offset)
				}
				binary.LittleEndian.PutUint32(code[r.offset:], word)
			}
		}
	}
}
