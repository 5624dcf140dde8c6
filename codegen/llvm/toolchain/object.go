package toolchain

import (
	"bytes"
	"fmt"
	"regexp"

	"ripc/internal/abi"
	"ripc/targets"
)

// WeightSection is the section of objects made by Constants; ld.lld merges it into .rodata.
const WeightSection = ".rodata.ripc"

// Blob is constant data under a symbol.
type Blob struct {
	Symbol string   // C identifier
	Data   [][]byte // pieces, one behind the other; may be empty
}

// Constants puts the blobs into one object for tg: read-only, in order, each aligned to abi.Align,
// under hidden symbols. It fails with *SymbolError for a bad or repeated symbol. It shares the
// memory of the blobs.
func Constants(tg targets.Target, blobs []Blob) (Object, error) {
	o := dataObject{section: WeightSection, align: abi.Align}
	var names []string
	for _, b := range blobs {
		names = append(names, b.Symbol)
		o.add(make([]byte, -o.size&(abi.Align-1)))
		at := o.size
		o.add(b.Data...)
		o.symbols = append(o.symbols, dataSymbol{b.Symbol, at, o.size - at})
	}
	if err := checkSymbols(names); err != nil {
		return Object{}, err
	}
	obj, err := o.object(tg)
	obj.Name = "weights"
	return obj, err
}

// Section makes an object for tg with one read-only section: text and a NUL byte, starting at a
// hidden symbol, and room more bytes. The linker keeps it even if nothing refers to it. Where code
// can refer to it, text must not contain a NUL byte.
func Section(tg targets.Target, section, symbol string, text []byte, room int) ([]byte, error) {
	if err := checkSymbols([]string{symbol}); err != nil {
		return nil, err
	}
	if !regexp.MustCompile(`^\.[A-Za-z0-9_.]+$`).MatchString(section) {
		return nil, fmt.Errorf("section name %q: want a dot, then letters, digits, dots or underscores", section)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 && MapsSections(tg) {
		return nil, fmt.Errorf("section %s: byte %d of the text is NUL, which would end it early", section, i)
	}
	o := dataObject{section: section, retain: true, align: 1,
		symbols: []dataSymbol{{symbol, 0, len(text) + 1}}}
	o.add(text, make([]byte, 1+room))
	obj, err := o.object(tg)
	return obj.Bytes(), err
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
	return fmt.Sprintf("%q cannot be a symbol; want a C identifier (letters, digits, underscores, no digit first)",
		e.Symbol)
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
