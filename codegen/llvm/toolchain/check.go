package toolchain

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// UndefinedError says that a library or an object needs symbols from elsewhere. Artifacts must not:
// libm, libc and the compiler's helper functions are not there when one is loaded.
type UndefinedError struct {
	Symbols   []string
	Libraries []string // libraries it asks the loader for
}

func (e *UndefinedError) Error() string {
	var parts []string
	if len(e.Symbols) > 0 {
		parts = append(parts, "undefined symbols: "+strings.Join(e.Symbols, ", "))
	}
	if len(e.Libraries) > 0 {
		parts = append(parts, "needs libraries: "+strings.Join(e.Libraries, ", "))
	}
	return strings.Join(parts, "; ") + " (an artifact must be complete in itself; LLVM calls helper functions" +
		" for operations that the target lacks)"
}

// ExportError says that the visible symbols are not the wanted ones.
type ExportError struct {
	Missing []string // wanted, but not defined
	Extra   []string // visible, but not wanted
}

func (e *ExportError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "to be exported, but defined by no object: "+strings.Join(e.Missing, ", "))
	}
	if len(e.Extra) > 0 {
		parts = append(parts, "visible, but not to be exported: "+strings.Join(e.Extra, ", "))
	}
	return strings.Join(parts, "; ")
}

// CheckShared fails unless the shared library lib needs nothing from elsewhere and shows exactly
// the symbols in exports. The errors are *UndefinedError and *ExportError.
func CheckShared(lib io.ReaderAt, exports []string) error {
	return checkELF(lib, exports, "dynamic symbols", (*elf.File).DynamicSymbols)
}

// CheckObject is CheckShared for a relocatable object: its global symbols are the visible ones.
func CheckObject(obj io.ReaderAt, exports []string) error {
	return checkELF(obj, exports, "symbols", (*elf.File).Symbols)
}

// checkELF checks a file by the symbols that read returns.
func checkELF(file io.ReaderAt, exports []string, what string, read func(*elf.File) ([]elf.Symbol, error)) error {
	f, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("not an ELF file: %w", err)
	}
	defer f.Close()
	symbols, err := read(f)
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("%s: %w", what, err)
	}
	needed, err := f.ImportedLibraries() // none of an object
	if err != nil {
		return fmt.Errorf("needed libraries: %w", err)
	}
	return check(symbols, needed, exports)
}

func check(symbols []elf.Symbol, needed, exports []string) error {
	var undefined, visible []string
	for _, s := range symbols {
		switch {
		case elf.ST_BIND(s.Info) == elf.STB_LOCAL, s.Name == "_GLOBAL_OFFSET_TABLE_": // the linker's own
		case s.Section == elf.SHN_UNDEF:
			undefined = append(undefined, s.Name)
		default:
			visible = append(visible, s.Name)
		}
	}
	if len(undefined) > 0 || len(needed) > 0 {
		slices.Sort(undefined)
		return &UndefinedError{undefined, needed}
	}
	missing, extra := minus(exports, visible), minus(visible, exports)
	if len(missing) > 0 || len(extra) > 0 {
		return &ExportError{missing, extra}
	}
	return nil
}

// minus returns the sorted elements of a that are not in b.
func minus(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}
