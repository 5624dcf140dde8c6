package files

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// HeadSize is the number of bytes of a file's beginning that Kind needs.
const HeadSize = 512

// Kind names the type of a file by its first bytes or else its name, for example "a NumPy array".
// It is for messages about an unexpected file.
func Kind(path string, head []byte) string {
	for _, k := range []struct {
		at          int
		magic, kind string
	}{
		{0, "\x93NUMPY", "a NumPy array"}, {0, "\x7fELF", "a compiled library or program"},
		{4, "TFL3", "a TensorFlow Lite model"}, {0, "\x89PNG", "a PNG picture"},
		{0, "\xff\xd8\xff", "a JPEG picture"}, {0, "\x89HDF", "an HDF5 file"}, {0, "PK\x03\x04", "a zip archive"},
		{0, "\x1f\x8b", "packed by gzip"}, {0, "!<arch>", "a static library"},
		{0, "%PDF", "a PDF document"}, {0, `{"format":"ripc.record/`, "a file of records"},
	} {
		if len(head) >= k.at && bytes.HasPrefix(head[k.at:], []byte(k.magic)) {
			return k.kind
		}
	}
	text := bytes.TrimSpace(head)
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case len(text) == 0:
		return "empty"
	case ext == ".onnx":
		return "an ONNX model"
	case ext == ".safetensors":
		return "a file of weights"
	case text[0] == '{' && bytes.Contains(text, []byte(`"ripc.model/`)):
		return "a model of ripc's own"
	case text[0] == '{' && ext == ".json":
		return "a JSON object"
	case bytes.IndexByte(text, 0) < 0 && utf8.Valid(text[:max(0, len(text)-utf8.UTFMax)]):
		return "text"
	}
	return "binary data"
}
