package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// Write writes the tensors so that equal content gives equal bytes: names sorted, data in the same
// order, the header padded with blanks to a multiple of 8.
func Write(w io.Writer, tensors map[string]Tensor) error {
	names := slices.Sorted(maps.Keys(tensors))
	entries, at := map[string]header{}, int64(0)
	for _, name := range names {
		t := tensors[name]
		size := Size(t.DType)
		if size == 0 {
			return &Error{Tensor: name, Msg: fmt.Sprintf("element type %q is not supported", t.DType),
				Help: "use " + dtypes}
		}
		need, msg := byteCount(size, t.Shape)
		switch {
		case name == metadataKey:
			msg = "the name is reserved"
		case msg == "" && need != len(t.Data):
			msg = fmt.Sprintf("shape %v of %s needs %d bytes, Data has %d", t.Shape, t.DType, need, len(t.Data))
		}
		if msg != "" {
			return &Error{Tensor: name, Msg: msg}
		}
		end := at + int64(need)
		entries[name] = header{strings.ToUpper(t.DType), append([]int{}, t.Shape...), []int64{at, end}}
		if at = end; at > maxData {
			return &Error{Tensor: name, Msg: fmt.Sprintf("the tensors exceed %d bytes", int64(maxData)),
				Help: "split the file"}
		}
	}
	var head bytes.Buffer
	enc := json.NewEncoder(&head)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(entries); err != nil {
		return &Error{Msg: "cannot encode the header", Err: err}
	}
	head.Truncate(head.Len() - 1) // the end of the line
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	if head.Len() > maxHeader {
		return &Error{Msg: fmt.Sprintf("the header exceeds %d bytes", maxHeader), Help: "shorten names"}
	}
	parts := [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(head.Len())), head.Bytes()}
	for _, name := range names {
		parts = append(parts, tensors[name].Data)
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return &Error{Msg: "cannot write", Err: err}
		}
	}
	return nil
}

// WriteFile writes to path, replacing an existing file. Nothing is written if a tensor is not
// valid.
func WriteFile(path string, tensors map[string]Tensor) error {
	var b bytes.Buffer
	err := Write(&b, tensors)
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
