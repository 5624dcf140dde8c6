package main

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"ripc/internal/container"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// tamper is "tamper FILE": it changes one byte of a library's constants.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	data, _, _ := library(ts, args[0])
	f, err := elf.NewFile(bytes.NewReader(data))
	ts.Check(err)
	s := f.Section(".rodata")
	if s == nil {
		ts.Fatalf("%s has no section .rodata", args[0])
	}
	data[s.Offset+s.Size/2] ^= 0x40
	store(ts, args[0], data)
}

// flip is "flip FROM TO K": it writes FROM to TO with one bit of the constants changed, another one for each K, and sets
// $STAGE and $BUFFER to whose it is.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	k, err := strconv.Atoi(args[2])
	ts.Check(err)
	data, symbols, d := library(ts, args[0])
	type place struct {
		stage string
		t     describe.Tensor
	}
	var all []place
	for _, s := range d.Stages {
		for _, t := range s.Reads {
			if t.Where == "const" {
				all = append(all, place{s.Name, t})
			}
		}
	}
	p := all[k%len(all)]
	n, err := runtime.OperandBytes(p.t)
	ts.Check(err)
	bit := uint32(k) * 2654435761 % uint32(8*n)
	data[int64(symbols["ripc_weights"])+p.t.Offset+int64(bit/8)] ^= 1 << (bit % 8)
	store(ts, args[1], data)
	ts.Setenv("STAGE", p.stage)
	ts.Setenv("BUFFER", p.t.Name)
}

// spoil is "spoil FROM TO STAGE trap|loop|wild": it writes FROM to TO with the start of a stage's kernel replaced by
// instructions that trap, by an endless loop, or by a jump to nowhere.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	data, symbols, d := library(ts, args[0])
	code := map[string]map[string]string{
		"x86_64":  {"trap": "\x0f\x0b", "int3": "\xcc", "loop": "\xeb\xfe", "wild": "\x31\xc0\xff\xe0"},
		"aarch64": {"trap": "\x00\x00\x00\x00", "int3": "\x00\x00\x20\xd4", "loop": "\x00\x00\x00\x14", "wild": "\xe0\x03\x1f\xaa\x00\x00\x1f\xd6"},
	}[d.Arch][args[3]]
	i := slices.IndexFunc(d.Stages, func(s describe.Stage) bool { return s.Name == args[2] })
	if code == "" || i < 0 {
		ts.Fatalf("no stage %s, or no code to %s on %s", args[2], args[3], d.Arch)
	}
	copy(data[symbols[d.Stages[i].Kernel]:], bytes.Repeat([]byte(code), 64/len(code)))
	store(ts, args[1], data)
}

// store writes a library with the checksum that belongs to it: what is wrong with it is for others to find.
func store(ts *testscript.TestScript, name string, data []byte) {
	ts.Check(container.Seal(data))
	ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o755))
}

// edit is "edit FROM TO OLD NEW ...": it writes FROM to TO with each OLD replaced by NEW, which is as long.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	data, _, _ := library(ts, args[0])
	for pair := range slices.Chunk(args[2:], 2) {
		if len(pair) < 2 || len(pair[0]) != len(pair[1]) || !bytes.Contains(data, []byte(pair[0])) {
			ts.Fatalf("cannot replace %q", pair)
		}
		data = bytes.ReplaceAll(data, []byte(pair[0]), []byte(pair[1]))
	}
	store(ts, args[1], data)
}

// damage is "damage FROM TO K": it writes FROM to TO with one bit changed of what a loader maps, another one for each K.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	k, err := strconv.Atoi(args[2])
	ts.Check(err)
	data, _, _ := library(ts, args[0])
	f, err := elf.NewFile(bytes.NewReader(data))
	ts.Check(err)
	var mapped uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			mapped = max(mapped, p.Off+p.Filesz)
		}
	}
	bit := uint64(k) * 2654435761 % (8 * mapped)
	data[bit/8] ^= 1 << (bit % 8)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o755))
}

// library reads a library, the offsets in the file of its symbols, and its description.
func library(ts *testscript.TestScript, name string) (data []byte, symbols map[string]uint64, d *describe.Artifact) {
	data, err := os.ReadFile(ts.MkAbs(name))
	ts.Check(err)
	f, err := elf.NewFile(bytes.NewReader(data))
	ts.Check(err)
	list, err := f.Symbols()
	ts.Check(err)
	symbols = map[string]uint64{}
	for _, s := range list {
		if int(s.Section) < len(f.Sections) {
			in := f.Sections[s.Section]
			symbols[s.Name] = s.Value - in.Addr + in.Offset
		}
	}
	d, err = runtime.ReadDescription(ts.MkAbs(name))
	ts.Check(err)
	return data, symbols, d
}
