package importer

import "strings"

// Option is the word by which users know one of the Options. The command's flags are called so, and
// so is whatever messages advise.
type Option string

// The options that messages speak of.
const (
	Batch  Option = "batch"
	Shape  Option = "shape"
	Begin  Option = "begin"
	End    Option = "end"
	Layout Option = "input-layout"
	Type   Option = "input-type"
	Scale  Option = "scale"
	Mean   Option = "mean"
	Std    Option = "std"
)

// With is the option with a value, as on a command line.
func (o Option) With(value string) string { return "--" + string(o) + " " + word(value) }

// String is the option without a value.
func (o Option) String() string { return "--" + string(o) }

// word is text as a shell takes it for one word.
func word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./:@%+=,-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
