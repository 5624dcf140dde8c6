// Package terminal makes text of others fit to be shown: text out of files, of other machines and
// of programs. A terminal obeys control characters, and text in two directions can be shown in
// another order than it has.
package terminal

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substitute stands for characters that are not shown.
const substitute = '?'

// Clean returns s on one line, with a question mark for each character that cannot be seen.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return substitute
	}, s)
}

// Cut returns Clean of the first n bytes of s, and a mark if there is more.
func Cut(s string, n int) string { return Clean(cut(s, n)) }

// cut returns the first n bytes of s, less a character that would be cut, and a mark if there is
// more.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " ..."
}

// CleanAll replaces every string that v points to by Lines of its first n bytes: fields, elements,
// and values of maps. Bytes stay as they are.
func CleanAll(v any, n int) { cleanAll(reflect.ValueOf(v), n) }

func cleanAll(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); v.CanSet() {
			v.SetString(Lines(cut(s, n)))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			cleanAll(v.Elem(), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cleanAll(v.Field(i), n)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			cleanAll(v.Index(i), n)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(k))
			cleanAll(element, n)
			v.SetMapIndex(k, element)
		}
	}
}

// Lines is Clean of each line of s; a tab is four blanks.
func Lines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// obeyed reports whether a terminal does something else than to show r: a control character but the
// end of a line and the tab, or one that changes the direction of text.
func obeyed(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// writer is the result of NewWriter.
type writer struct {
	to      io.Writer
	replace func(r rune) string
	partial []byte // a character that is not all there yet
}

// NewWriter writes text to w with a question mark for each character that a terminal would obey,
// and for bytes that are no UTF-8. It changes nothing else.
func NewWriter(w io.Writer) io.Writer {
	return &writer{to: w, replace: func(rune) string { return string(substitute) }}
}

// NewJSONWriter is NewWriter for JSON, which stays the same value: in strings, such characters have
// an escape.
func NewJSONWriter(w io.Writer) io.Writer {
	return &writer{to: w, replace: func(r rune) string {
		const hex = "0123456789abcdef" // they are below 0x10000
		return `\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
	}}
}

func (w *writer) Write(p []byte) (int, error) {
	text := append(w.partial, p...)
	w.partial = nil
	var out bytes.Buffer
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			w.partial = bytes.Clone(text)
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out.WriteString(w.replace(utf8.RuneError))
		case obeyed(r):
			out.WriteString(w.replace(r))
		default:
			out.Write(text[:n])
		}
		text = text[n:]
	}
	if _, err := w.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Destination returns the destination of a writer of this package, and any other writer itself.
// Output that is no text goes there.
func Destination(w io.Writer) io.Writer {
	if w, ok := w.(*writer); ok {
		return w.to
	}
	return w
}
