package codegen

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets"
)

// Kind is a kind of file, mostly named by its extension.
type Kind string

// The kinds.
const (
	SO      Kind = "so"    // shared library
	WASM    Kind = "wasm"  // module of WebAssembly
	NPM     Kind = "npm"   // package for npm, of modules
	HTML    Kind = "html"  // page with modules in it, which opens from disk
	Archive Kind = "a"     // static library
	Header  Kind = "h"     // C header for so, a, o and c
	Plus    Kind = "hpp"   // C++ header with h in it: memory, threads, spans
	Rust    Kind = "rs"    // module of Rust, the same
	Package Kind = "zip"   // C source and header as a library for Zephyr, PlatformIO, Arduino, ESP-IDF, CMake
	Object  Kind = "o"     // object file, the content of a
	LL      Kind = "ll"    // LLVM text of all modules, before optimization
	Asm     Kind = "s"     // assembly of all modules
	Source  Kind = "c"     // one file of C99
	CL      Kind = "cl"    // kernels in OpenCL C
	PTX     Kind = "ptx"   // kernels for NVIDIA's GPUs
	WGSL    Kind = "wgsl"  // kernels for WebGPU
	Bundle  Kind = "ripc"  // kernels of a device, constants and description, in one file
	Ripir   Kind = "ripir" // the scheduled Program as text
)

// Ext is the extension of a file of kind k, without the dot.
func (k Kind) Ext() string {
	if k == NPM {
		return "tgz"
	}
	return string(k)
}

// Runnable is the kind that runs, verifies and measures load (engine.OpenLibrary): a shared library
// or module for the target or, for portable code, for the machine that made it. For a chip without
// an operating system it is a program for its board. Users cannot ask for it.
const Runnable Kind = "runnable"

// Kinds lists every kind of file.
func Kinds() []Kind {
	return []Kind{SO, WASM, NPM, HTML, Archive, Header, Plus, Rust, Package, Object, LL, Asm, Source, CL, PTX, WGSL,
		Bundle, Ripir}
}

// OfAll reports whether Build makes k by itself, whatever the back ends.
func (k Kind) OfAll() bool { return k == Header || k == Plus || k == Rust || k == Ripir }

// suits reports whether code for t has functions for a file of kind k, one that Build makes.
func (k Kind) suits(t targets.Target) bool {
	return k == Ripir || !t.IsDevice() || k == Header && languageOf(t).header != ""
}

// KindError says that no back end makes a kind of file.
type KindError struct {
	Kind  string
	Known []string
}

func (e *KindError) Error() string {
	return fmt.Sprintf("cannot emit %q; there are %s", e.Kind, strings.Join(e.Known, ", "))
}

// BadInput reports that the input is at fault.
func (*KindError) BadInput() bool { return true }

// ParseKinds reads a list such as "so,a,h". Kinds may be repeated. It fails with *KindError.
func ParseKinds(s string) ([]Kind, error) {
	var out []Kind
	for _, word := range strings.Split(s, ",") {
		k := Kind(strings.TrimSpace(word))
		if !slices.Contains(Kinds(), k) {
			e := &KindError{Kind: string(k)}
			for _, known := range Kinds() {
				e.Known = append(e.Known, string(known))
			}
			return nil, e
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}
