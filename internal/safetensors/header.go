package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// entry is one line of the header: where a tensor lies in the data, as bytes begin..end-1.
type entry struct {
	name       string
	dtype      string
	shape      []int
	begin, end int
}

// header is an entry as JSON.
type header struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// metadataKey is the header's one key that is no tensor.
const metadataKey = "__metadata__"

// parseHeader reads the JSON. Keys are taken in order and may not repeat.
func parseHeader(text []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, &Error{Msg: "the header is not a JSON object", Err: err}
	}
	var entries []entry
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			return nil, &Error{Msg: "the header is not valid JSON", Err: err}
		}
		if seen[name] {
			return nil, &Error{Tensor: name, Msg: "the name occurs twice"}
		}
		seen[name] = true
		if name == metadataKey {
			if err := dec.Decode(&map[string]string{}); err != nil {
				return nil, &Error{Msg: metadataKey + " must be an object of strings", Err: err}
			}
			continue
		}
		e, err := parseEntry(dec, name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if _, err := dec.Token(); err != nil {
		return nil, &Error{Msg: "the header's JSON does not end", Err: err}
	}
	if rest := bytes.Trim(text[dec.InputOffset():], " \x00\n\r\t"); len(rest) != 0 {
		return nil, &Error{Msg: fmt.Sprintf("text follows the header's object: %.20q", rest),
			Help: "only blanks may"}
	}
	return entries, nil
}

// parseEntry reads {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}.
func parseEntry(dec *json.Decoder, name string) (entry, error) {
	const form = `expected {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}`
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return entry{}, &Error{Tensor: name, Msg: "not valid JSON", Help: form, Err: err}
	}
	var v header
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&v); err != nil {
		return entry{}, &Error{Tensor: name, Msg: "bad entry", Help: form, Err: err}
	}
	if v.DType == "" || v.Shape == nil || len(v.Offsets) != 2 {
		return entry{}, &Error{Tensor: name, Msg: "dtype, shape or data_offsets is missing", Help: form}
	}
	e := entry{name: name, dtype: strings.ToLower(v.DType), shape: v.Shape}
	size := Size(e.dtype)
	if size == 0 || strings.ToUpper(v.DType) != v.DType {
		return entry{}, &Error{Tensor: name, Msg: fmt.Sprintf("element type %q is not supported", v.DType),
			Help: "use " + strings.ToUpper(dtypes)}
	}
	for i, d := range v.Shape {
		if d < 0 || d > maxData {
			return entry{}, &Error{Tensor: name, Msg: fmt.Sprintf("extent %d of axis %d", d, i),
				Help: fmt.Sprintf("extents are 0 to %d", int64(maxData))}
		}
	}
	need, msg := byteCount(size, e.shape)
	if msg != "" {
		return entry{}, &Error{Tensor: name, Msg: msg}
	}
	begin, end := v.Offsets[0], v.Offsets[1]
	if begin < 0 || end < begin || end > maxData {
		return entry{}, &Error{Tensor: name, Msg: fmt.Sprintf("data_offsets [%d, %d]", begin, end),
			Help: fmt.Sprintf("0 <= begin <= end <= %d", int64(maxData))}
	}
	if end-begin != int64(need) {
		return entry{}, &Error{Tensor: name, Msg: fmt.Sprintf("shape %v of %s needs %d bytes, data_offsets [%d, %d] "+
			"give %d",
			e.shape, v.DType, need, begin, end, end-begin)}
	}
	e.begin, e.end = int(begin), int(end)
	return e, nil
}

// checkLayout verifies that the tensors follow one another without gap or overlap, and returns the
// bytes of all.
func checkLayout(entries []entry) (int, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b entry) int {
		if a.begin != b.begin {
			return a.begin - b.begin
		}
		return a.end - b.end
	})
	at := 0
	for _, e := range sorted {
		if e.begin < at {
			return 0, &Error{Tensor: e.name,
				Msg: fmt.Sprintf("data_offsets [%d, %d] overlap the tensor before, which ends at %d", e.begin, e.end,
					at)}
		}
		if e.begin > at {
			return 0, &Error{Tensor: e.name, Msg: fmt.Sprintf("bytes %d to %d in front of it belong to no tensor", at,
				e.begin)}
		}
		at = e.end
	}
	return at, nil
}
