package layout

import (
	"fmt"
	"slices"
	"sync"

	"ripc/graph"
	"ripc/internal/enum"
	"ripc/internal/lists"
	"ripc/targets"
)

// Algorithm is how the sums of a layer are computed.
type Algorithm uint8

const (
	// Popcount counts the bits in which words of activations and weights differ, one pair of planes
	// after the other.
	Popcount Algorithm = iota
	// PopcountDense is Popcount of other words than those of the input; see Counted.
	PopcountDense
	// Float adds up products in f32: of real numbers, or of integers with sums that f32 holds
	// exactly.
	Float
	// Dot adds up products of bytes in i32, four channels at once: levels of up to 8 bits and
	// weights that fit i8.
	Dot
	// Table4 looks up the counts of groups of 4 channels.
	Table4
	// Table6 looks up the counts of groups of 6 channels.
	Table6
	// PopcountDense8 and PopcountDense16 are PopcountDense of words of 8 and of 16 bits.
	PopcountDense8
	PopcountDense16
	// Table4Halves is Table4 of entries that are found for both halves of a row at once.
	Table4Halves
	// Table6Across and Table8Across look up the counts of groups of 6 or 8 channels, at
	// neighbouring positions at once.
	Table6Across
	Table8Across
)

// algorithm describes an Algorithm.
type algorithm struct {
	name   string
	counts bool // words
	group  int  // channels of a table's group; 0 without tables
	reach  Reach
	// layOut lays f out for target t, a layer over x of shape [B, H, W, C].
	layOut func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation
	// lacks says why it does not give exactly the sums of f, a layer over x of shape [B, H, W, C];
	// "" where it does.
	lacks func(f *graph.FusedConv, x *graph.Value) string
}

// algorithms is indexed by Algorithm. Where several give the sums of a layer, Choose takes the
// first.
func algorithms() []algorithm {
	return []algorithm{
		Popcount:      Counted{Bits: WordBits}.algorithm(),
		PopcountDense: Counted{Dense: true, Bits: WordBits}.algorithm(),
		Float: {name: "float", lacks: func(f *graph.FusedConv, x *graph.Value) string {
			if !x.Encoded() || Exact(f) {
				return ""
			}
			return fmt.Sprintf("its sums reach %d, and f32 holds integers up to %d exactly", LargestSum(f), MaxExact)
		}, layOut: func(f *graph.FusedConv, x *graph.Value, _ targets.Target) Accumulation {
			return newFloatSums(f, x)
		}},
		Dot: {name: "dot", lacks: lacksDots,
			layOut: func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation {
				return newDots(f, x, t)
			}},
		Table4:          tables(4, OnePosition),
		Table6:          tables(6, OnePosition),
		PopcountDense8:  Counted{Dense: true, Bits: 8}.algorithm(),
		PopcountDense16: Counted{Dense: true, Bits: 16}.algorithm(),
		Table4Halves:    tables(4, BothHalves),
		Table6Across:    tables(6, Across),
		Table8Across:    tables(8, Across),
	}
}

// realNumbers is why only Float computes a layer of real numbers.
const realNumbers = "its weights or its input are real numbers"

// tables describes look-ups of the counts of groups of `bits` channels.
func tables(bits int, reach Reach) algorithm {
	a := algorithm{name: fmt.Sprintf("table%d", bits), group: bits, reach: reach}
	if reach != OnePosition {
		a.name += "_" + string(reach)
	}
	lacks := func(*graph.FusedConv, *graph.Value, int) string { return "" }
	switch reach {
	case BothHalves:
		lacks = lacksHalves
	case Across:
		lacks = lacksAcross
	}
	a.lacks = func(f *graph.FusedConv, x *graph.Value) string {
		if why := lacksTables(f, x, bits); why != "" {
			return why
		}
		return lacks(f, x, bits)
	}
	a.layOut = func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation {
		return newTables(f, x, bits, reach, t)
	}
	return a
}

var algorithmTexts = sync.OnceValue(func() enum.Type[Algorithm] {
	names := lists.Map(algorithms(), func(a algorithm) string { return a.name })
	return enum.Of[Algorithm]("algorithm", names...)
})

// Algorithms are all that there are.
func Algorithms() []Algorithm { return algorithmTexts().All() }

// String is the algorithm's name in descriptions, .ripir text and options, and as inspect prints
// it.
func (a Algorithm) String() string { return algorithmTexts().Name(a) }

// ParseAlgorithm is the inverse of Algorithm.String.
func ParseAlgorithm(text string) (Algorithm, error) { return algorithmTexts().Parse(text) }

// Counts reports whether a counts words.
func (a Algorithm) Counts() bool { return algorithms()[a].counts }

// LooksUp reports whether a looks up counts of groups of channels.
func (a Algorithm) LooksUp() bool { return algorithms()[a].group > 0 }

// Averages reports whether a stage by a can write the mean of all positions instead of its output.
// Algorithms with separate blocks of rows cannot.
func (a Algorithm) Averages() bool { return algorithms()[a].reach != Across }

// Lacks says why a does not give exactly the sums of f, a layer over x of shape [B, H, W, C]; ""
// where it does.
func (a Algorithm) Lacks(f *graph.FusedConv, x *graph.Value) string {
	return algorithms()[a].lacks(f, x)
}

// Applying are the algorithms that give exactly the sums of f, a layer over x of shape [B, H, W,
// C].
func Applying(f *graph.FusedConv, x *graph.Value) []Algorithm {
	return slices.DeleteFunc(Algorithms(), func(a Algorithm) bool { return a.Lacks(f, x) != "" })
}
