package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"ripc/codegen/llvm/rows"
	"ripc/internal/abi"
	"ripc/targets"
)

// WeightSection is the ELF section of objects made by Incbin; the linker merges it into .rodata.
const WeightSection = ".rodata.ripc"

// Blob is constant data under a symbol.
type Blob struct {
	Symbol string // C identifier
	Data   []byte // may be empty
}

// Incbin puts the blobs into one object for tg: read-only, in order, each aligned to abi.Align, under hidden symbols.
// The bytes never pass through text. It fails with *SymbolError for a bad or repeated symbol, else as Run does.
func (t *Tools) Incbin(ctx context.Context, tg targets.Target, blobs []Blob) ([]byte, error) {
	var names []string
	for _, b := range blobs {
		names = append(names, b.Symbol)
	}
	if err := checkSymbols(names); err != nil {
		return nil, err
	}
	var obj []byte
	err := inTempDir(func(dir string) error {
		var asm strings.Builder
		fmt.Fprintf(&asm, "\t.section %s,\"a\",%%progbits\n", WeightSection)
		for i, b := range blobs {
			file := fmt.Sprintf("%d.bin", i)
			if err := os.WriteFile(filepath.Join(dir, file), b.Data, 0o666); err != nil {
				return fmt.Errorf("weights of %s: %w", b.Symbol, err)
			}
			fmt.Fprintf(&asm, "\t.balign %d\n", abi.Align)
			define(&asm, b.Symbol, file, len(b.Data))
		}
		var err error
		obj, err = t.assemble(ctx, dir, tg, asm.String())
		return err
	})
	return obj, err
}

// Section makes an object for tg with one read-only section that holds text and a NUL byte, starting at a hidden
// symbol, and behind them room for room bytes. The linker keeps it even if nothing refers to it. text must not contain a NUL byte.
func (t *Tools) Section(ctx context.Context, tg targets.Target, section, symbol string, text []byte, room int) ([]byte, error) {
	if err := checkSymbols([]string{symbol}); err != nil {
		return nil, err
	}
	if !regexp.MustCompile(`^\.[A-Za-z0-9_.]+$`).MatchString(section) {
		return nil, fmt.Errorf("section name %q: want a dot, then letters, digits, dots or underscores", section)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("section %s: byte %d of the text is NUL, which would end it early", section, i)
	}
	var obj []byte
	err := inTempDir(func(dir string) error {
		data := append(append([]byte(nil), text...), 0)
		if err := os.WriteFile(filepath.Join(dir, "text"), data, 0o666); err != nil {
			return fmt.Errorf("section %s: %w", section, err)
		}
		var asm strings.Builder
		fmt.Fprintf(&asm, "\t.section %s,\"aR\",%%progbits\n", section) // R: not for --gc-sections to drop
		define(&asm, symbol, "text", len(data))
		fmt.Fprintf(&asm, "\t.zero %d\n", room)
		var err error
		obj, err = t.assemble(ctx, dir, tg, asm.String())
		return err
	})
	return obj, err
}

// define writes the definition of a hidden symbol whose bytes lie in file.
func define(asm *strings.Builder, symbol, file string, size int) {
	fmt.Fprintf(asm, "\t.globl %[1]s\n\t.hidden %[1]s\n\t.type %[1]s,%%object\n%[1]s:\n", symbol)
	if size > 0 {
		fmt.Fprintf(asm, "\t.incbin \"%s\"\n", file)
	}
	fmt.Fprintf(asm, "\t.size %s, %d\n", symbol, size)
}

// assemble runs llvm-mc in dir, where the files that asm includes lie.
func (t *Tools) assemble(ctx context.Context, dir string, tg targets.Target, asm string) ([]byte, error) {
	asm += "\t.section .note.GNU-stack,\"\",%progbits\n"
	row, _ := rows.Of(tg)
	out, err := t.run(ctx, dir, "llvm-mc", []byte(asm), "-triple="+row.Triple, "-filetype=obj", "-o", "-")
	if err != nil {
		return nil, fmt.Errorf("assembling data: %w", err)
	}
	return out, nil
}

// SymbolError says that a name cannot be the symbol of an object.
type SymbolError struct {
	Symbol   string
	Repeated bool
}

func (e *SymbolError) Error() string {
	if e.Repeated {
		return fmt.Sprintf("symbol %s is defined twice; each needs its own name", e.Symbol)
	}
	return fmt.Sprintf("%q cannot be a symbol; want a C identifier (letters, digits, underscores, no digit first)", e.Symbol)
}

// checkSymbols fails unless the names are distinct C identifiers.
func checkSymbols(names []string) error {
	ident := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	seen := map[string]bool{}
	for _, n := range names {
		if !ident.MatchString(n) {
			return &SymbolError{Symbol: n}
		}
		if seen[n] {
			return &SymbolError{Symbol: n, Repeated: true}
		}
		seen[n] = true
	}
	return nil
}
