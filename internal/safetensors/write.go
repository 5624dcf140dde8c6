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

// Write writes the tensors (and the metadata, which may be nil) so that equal content gives equal
// bytes: names sorted, data in the same order, the header padded with blanks to a multiple of 8.
func Write(w io.Writer, tensors map[string]Tensor, metadata map[string]string) error {
	names := slices.Sorted(maps.Keys(tensors))
	var head bytes.Buffer
	head.WriteByte('{')
	if metadata != nil {
		text, err := encode(metadata)
		if err != nil {
			return &Error{Msg: "cannot encode the metadata", Err: err}
		}
		fmt.Fprintf(&head, "%q:%s", metadataKey, text)
	}
	at := 0
	for _, name := range names {
		line, size, err := headerLine(name, tensors[name], at)
		if err != nil {
			return err
		}
		if head.Len() > 1 {
			head.WriteByte(',')
		}
		head.WriteString(line)
		if at += size; at > maxData {
			return &Error{Tensor: name, Msg: fmt.Sprintf("the tensors exceed %d bytes", int64(maxData)),
				Help: "split the file"}
		}
	}
	head.WriteByte('}')
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	if head.Len() > maxHeader {
		return &Error{Msg: fmt.Sprintf("the header exceeds %d bytes", maxHeader), Help: "shorten names or metadata"}
	}
	prefix := binary.LittleEndian.AppendUint64(nil, uint64(head.Len()))
	for _, part := range [][]byte{prefix, head.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return &Error{Msg: "cannot write the header", Err: err}
		}
	}
	for _, name := range names {
		if _, err := w.Write(tensors[name].Data); err != nil {
			return &Error{Tensor: name, Msg: "cannot write the data", Err: err}
		}
	}
	return nil
}

// WriteFile writes to path, replacing an existing file. Nothing is written if a tensor is not
// valid.
func WriteFile(path string, tensors map[string]Tensor, metadata map[string]string) error {
	var b bytes.Buffer
	if err := Write(&b, tensors, metadata); err != nil {
		if e, ok := err.(*Error); ok {
			e.Path = path
		}
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return &Error{Path: path, Msg: "cannot write", Err: err}
	}
	return nil
}

// headerLine returns a tensor's entry, its data starting at byte `at`, and its size in bytes.
func headerLine(name string, t Tensor, at int) (string, int, error) {
	if name == metadataKey {
		return "", 0, &Error{Tensor: name, Msg: "the name is reserved"}
	}
	for _, d := range dtypes() {
		if d.name != t.DType {
			continue
		}
		need, msg := byteCount(d.size, t.Shape)
		if msg == "" && need != len(t.Data) {
			msg = fmt.Sprintf("shape %v of %s needs %d bytes, Data has %d", t.Shape, t.DType, need, len(t.Data))
		}
		if msg != "" {
			return "", 0, &Error{Tensor: name, Msg: msg}
		}
		key, err := encode(name)
		if err != nil {
			return "", 0, &Error{Tensor: name, Msg: "cannot encode the name", Err: err}
		}
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", ",")
		return fmt.Sprintf(`%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`, key, d.file, shape, at, at+need),
			need, nil
	}
	return "", 0, &Error{Tensor: name, Msg: fmt.Sprintf("element type %q is not supported", t.DType),
		Help: "use f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8 or bool"}
}

// encode is JSON without the escapes meant for HTML.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
