package irtext

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
)

// Bind sets the contents of f.Program's constants, little-endian and by name. It fails with
// *ir.Error if one is missing or does not match its hash in the text; then nothing is changed.
func (f *File) Bind(data map[string][]byte) error {
	if f.Program == nil {
		return &ir.Error{Msg: "there is no program"}
	}
	for _, name := range slices.Sorted(maps.Keys(f.ConstHash)) {
		d, ok := data[name]
		if !ok {
			return &ir.Error{Op: "%" + name, Node: "program @" + f.Program.Name,
				Msg: "the contents of the constant are missing"}
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(d)); got != f.ConstHash[name] {
			return &ir.Error{Op: "%" + name, Node: "program @" + f.Program.Name,
				Msg: fmt.Sprintf("the contents have sha256 %s, not %s", got, f.ConstHash[name])}
		}
	}
	for i := range f.Program.Buffers {
		if b := &f.Program.Buffers[i]; b.Kind == ir.ConstBuf {
			b.Data = data[b.Name]
		}
	}
	return nil
}
