package verify

import (
	"cmp"
	"fmt"
	"strings"

	"ripc/engine"
	"ripc/internal/enum"
	"ripc/internal/irdata"
	"ripc/ir"
)

// Report is the outcome of Verify.
type Report struct {
	Stages []StageResult // all of them
	// Network lists the outputs that differ after a run of all stages at once.
	Network []Difference
	// Crash, if not nil, says where the compiled code crashed; later stages are not compared then.
	Crash   *Crash
	Threads int
	Kind    engine.Kind // of the engine that ran the code
	// Footprint is the memory that the network takes on its board; nil under an operating system.
	Footprint *engine.Footprint
	OK        bool // nothing differs, and nothing crashed
}

// Simulated reports whether a simulator ran the code.
func (r *Report) Simulated() bool { return r.Kind == engine.Simulated }

// StageResult is the outcome for one stage.
type StageResult struct {
	Stage          int // index
	Name, Op, Func string
	Ran            bool         // only Constants is known without
	Constants      []Difference // between the file's constants that the stage reads and the Program's
	Differences    []Difference // in the stage's outputs
	// Stray lists other memory that the stage changed.
	Stray   []Stray
	Suspect Suspect
	OK      bool
}

// Suspect is the part of the compiler that a difference comes from.
type Suspect uint8

// The suspects. Constants: the file's constants differ from the Program's, so nothing is said about
// its code. Schedule: the scheduled Func computes other results than the definition, even in the
// interpreter. Codegen: it does not, so the fault is in a later step, or in the file itself.
const (
	Unknown Suspect = iota
	Constants
	Schedule
	Codegen
)

var suspects = enum.Of[Suspect]("suspect", "", "constants", "schedule", "codegen")

// String is the suspect's name, "" for Unknown.
func (s Suspect) String() string { return suspects.Name(s) }

// ParseSuspect is the inverse of Suspect.String.
func ParseSuspect(text string) (Suspect, error) { return suspects.Parse(text) }

// MarshalText gives the name, for JSON.
func (s Suspect) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Suspect) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSuspect(string(text))
	return err
}

// Difference describes how a buffer differs from the definition's results.
type Difference struct {
	Buffer    string
	Decl      string // type and shape, as in .ripir
	Index     []int  // of the first element that differs
	Got, Want string // its values; floats with their bits
	Count     int    // number of elements that differ
	Elems     int    // of how many
	Inputs    string // the Set that shows it
	Where     *Where // for outputs of stages and of the network; nil for constants
}

// String is, for example, "%y[0, 3]: got 5, want 7; 2 of 64 elements differ".
func (d Difference) String() string {
	on := ""
	if d.Inputs != "" {
		on = ", on " + d.Inputs
	}
	return fmt.Sprintf("%%%s%s: got %s, want %s; %d of %d elements differ%s", d.Buffer, d.at(), d.Got, d.Want,
		d.Count, d.Elems, on)
}

// at writes Index.
func (d Difference) at() string {
	if len(d.Index) == 0 {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprint(d.Index), " ", ", ")
}

// Stray is a change where a stage has nothing to write.
type Stray struct {
	Where string // "arena", or the input or output as "%name"
	First int64  // byte offset there
	Bytes int64  // how many bytes changed
}

// String is, for example, "3 bytes of arena changed, from offset 64".
func (s Stray) String() string {
	return fmt.Sprintf("%d bytes of %s changed, the first at offset %d", s.Bytes, s.Where, s.First)
}

// Findings lists the differences, a sentence each.
func (r StageResult) Findings() []string {
	var all []string
	for _, d := range r.Constants {
		all = append(all, fmt.Sprintf("weights of stage %s: %%%s differs at %s: the file has %s, the model %s; %d "+
			"of %d elements differ",
			r.Name, d.Buffer, cmp.Or(d.at(), "[]"), d.Got, d.Want, d.Count, d.Elems))
	}
	for _, d := range r.Differences {
		all = append(all, d.String())
	}
	for _, s := range r.Stray {
		all = append(all, s.String())
	}
	return all
}

// compare returns how got differs from want; ok if it does not. All NaNs are equal, but in stored
// data, which is exact.
func compare(b ir.Buffer, got, want []byte, exact bool) (d Difference, ok bool) {
	index, count := irdata.Compare(b, got, want, b.Type.IsFloat() && !exact)
	if count == 0 {
		return Difference{}, true
	}
	return Difference{Buffer: b.Name, Decl: ir.BufferString(b), Index: index, Count: count, Elems: b.Elems(),
		Got: irdata.Element(b, got, index), Want: irdata.Element(b, want, index)}, false
}
