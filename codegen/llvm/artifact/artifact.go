// Package artifact turns a scheduled ir.Program into the files that are shipped: a shared library or an archive that
// needs nothing else, its C header, and the texts on the way there.
//
//	files, err := artifact.Build(ctx, artifact.Input{Program: p, Target: t, Tools: tools, Cache: cache, Emit: kinds})
//	os.WriteFile("net.so", files[artifact.SO], 0o644)
//
// A library holds one kernel for each Func, the driver (codegen/llvm/driver), one object with all constants, and the
// description (runtime/describe). The same input gives the same bytes.
package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen/llvm/toolchain"
	"ripc/ir"
	"ripc/targets"
)

// Kind is a kind of file, named by its extension.
type Kind string

// The kinds.
const (
	SO      Kind = "so"    // shared library
	Archive Kind = "a"     // static library
	Header  Kind = "h"     // C header for SO, Archive and Object
	Object  Kind = "o"     // what Archive holds
	LL      Kind = "ll"    // LLVM text of all modules, before optimization
	Asm     Kind = "s"     // assembly of all modules
	Ripir   Kind = "ripir" // the scheduled Program
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{SO, Archive, Header, Object, LL, Asm, Ripir} }

// NeedsLLVM reports whether Build makes one of these kinds with LLVM's tools.
func NeedsLLVM(kinds []Kind) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return k == SO || k == Archive || k == Object || k == Asm })
}

// KindError says that a kind of file is unknown.
type KindError struct{ Kind string }

func (e *KindError) Error() string {
	var all []string
	for _, k := range Kinds() {
		all = append(all, string(k))
	}
	return fmt.Sprintf("cannot emit %q; there are %s", e.Kind, strings.Join(all, ", "))
}

// ParseKinds reads a list such as "so,a,h". Kinds may be repeated. It fails with *KindError.
func ParseKinds(s string) ([]Kind, error) {
	var out []Kind
	for _, word := range strings.Split(s, ",") {
		k := Kind(strings.TrimSpace(word))
		if !slices.Contains(Kinds(), k) {
			return nil, &KindError{string(k)}
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// Input is what Build needs.
type Input struct {
	Program *ir.Program         // scheduled
	Traces  map[string][]string // by Func: the lines of its schedule, for the description
	Glue    map[string]string   // by stage: what a layer does with its sums, for the description
	Target  targets.Target
	Tools   *toolchain.Tools // may be nil unless NeedsLLVM(Emit)
	Cache   *toolchain.Cache // of compiled modules; may be nil
	Version string           // of the compiler
	Emit    []Kind
	// Progress, if not nil, is called as modules are compiled.
	Progress func(done, total int)
}

// Build makes the files of in.Emit. It fails with *ir.Error if the Program cannot be shipped or a Func breaks a rule of
// code generation, else with an error of toolchain (a tool that is missing or fails, an undefined symbol), or ctx's.
func Build(ctx context.Context, in Input) (map[Kind][]byte, error) {
	b, err := newBuild(in)
	if err != nil {
		return nil, err
	}
	files := map[Kind][]byte{}
	for _, k := range in.Emit {
		if files[k] != nil {
			continue
		}
		if files[k], err = b.file(ctx, k); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// file makes one file.
func (b *build) file(ctx context.Context, k Kind) ([]byte, error) {
	switch k {
	case SO:
		return b.shared(ctx)
	case Archive:
		return b.archive(ctx)
	case Object:
		return b.object(ctx)
	case Header:
		return header(b.desc, b.in.Program.Name), nil
	case LL:
		var texts [][]byte
		for _, m := range b.modules {
			texts = append(texts, m.ll)
		}
		return b.join(";", texts), nil
	case Asm:
		texts, err := b.compile(ctx, toolchain.Asm)
		if err != nil {
			return nil, err
		}
		return b.join(commentMark(b.in.Target.Arch), texts), nil
	case Ripir:
		return []byte(b.in.Program.String()), nil
	}
	return nil, &KindError{string(k)}
}

// commentMark starts a comment in LLVM's assembly.
func commentMark(arch string) string {
	switch arch {
	case "aarch64":
		return "//"
	case "arm":
		return "@"
	}
	return "#"
}

// join puts the texts of all modules into one, each below a line "MARK module NAME".
func (b *build) join(mark string, texts [][]byte) []byte {
	var out []byte
	for i, m := range b.modules {
		if i > 0 {
			out = append(out, '\n')
		}
		out = fmt.Appendf(out, "%s module %s\n", mark, m.name)
		out = append(out, texts[i]...)
	}
	return out
}
