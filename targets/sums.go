package targets

// SumCosts are what the inner steps of layers cost on a target, for estimates of which way to compute sums is cheapest.
type SumCosts struct {
	Unit string // such as "cycles"

	// Word is for the differing bits of a word of 32 channels, counted and added up for one filter, where weights have one
	// plane; PlaneWord where they have two, and ExtraPlane what each more adds to that, for sums that registers do not hold.
	Word, PlaneWord, ExtraPlane float64

	// On targets with Target.ShortSums, of layers whose counts are compared with thresholds as they are, so that sums are as short as they may be: ShortWord is a Word, DenseWord one of words that are put
	// together, HalfWord and ByteWord are words of 16 and 8 bits; Piece is for a part of a word that is put together for all filters, NarrowPiece for one of a narrower word, Whole for a word that lies beside such as it is;
	// ShortLevel is for one comparison of a sum of 16 bits, ShortPlane for each plane but one of the activations, of such a sum. LongPlane is for one of a sum of other layers, and each row of taps.
	ShortWord, DenseWord, HalfWord, ByteWord, Piece, NarrowPiece, Whole, ShortLevel, ShortPlane, LongPlane float64

	// In f32, a block of filters at a few positions takes one channel of the input after the other: Fma is for each vector of
	// sums, Load for each vector of weights, Position for each number of the input, Step for the loop.
	Fma, Load, Position, Step float64

	// Dot is for each vector of sums to which products of bytes of four channels are added, in the place of Fma.
	Dot float64

	// Byte is for a byte of weights that comes from a cache, each row of outputs anew; FarByte where a block of filters does
	// not fit the second one. Where cycles are estimated, all caches are alike.
	Byte, FarByte float64

	// Unpack is for one bit of a level that becomes f32, UnpackByte for one of a level that becomes a byte, Level for one comparison of a sum with a threshold.
	Unpack, UnpackByte, Level float64
}

// WordShares are what it takes to count words in layers of groups and to bring words together, each as a share of a Word, or of a ShortWord: of those that filters
// do not share, Scattered is for bringing one from anywhere into a vector, LaneWord is for counting one where they lie side by side, and
// Lane is for an operation on one. Piece is for a part of a word that is put together for all filters, PieceRowwise where that is done for a vector of
// positions: 0 on Arm, where vectors are short and instructions count several words of a position, which have to lie together. Alike is the power of the number of filters of a vector that read the same word by which
// bringing it there gets cheaper for each.
type WordShares struct{ Scattered, Alike, LaneWord, Lane, Piece, PieceRowwise float64 }

// WordShares are t's, from layers of few channels and groups on 2026-11-22: instructions under qemu on Arm, times on an AMD EPYC (Zen 5) on
// x86 with vpopcntd; those in groups there from 161 layers of 2 to 32 groups and 1 to 3 planes on 2026-11-26, where what is chosen takes 1.045 times the least by geometric mean. Those of rpi3, rpi4 and rpi5 are from some 80 layers of 2 to 96 groups and 1 to 3 planes on 2026-11-24, by estimated cycles. lower/layout/testdata/windows.txt has some of them. With AVX-512 without vpopcntd they are from the same layers (1.037 times the least); on other x86 they have not been measured: the same times, where a Word takes
// longer.
func (t Target) WordShares() WordShares {
	switch on := t.MeasuredOn(); {
	case on == rpi3().Name:
		return WordShares{Scattered: 2.6, Alike: 1, LaneWord: 1.5, Lane: 0.36, Piece: 2.1}
	case on == rpi4().Name, on == jetsonTX2().Name, on == pixel1().Name:
		return WordShares{Scattered: 2.6, Alike: 1, LaneWord: 1.5, Lane: 0.34, Piece: 2.1}
	case on == rpi5().Name:
		return WordShares{Scattered: 2.6, Alike: 1, LaneWord: 1.55, Lane: 0.38, Piece: 2.1}
	case t.Arch != "x86_64":
		return WordShares{Scattered: 2.6, Alike: 1, LaneWord: 1.35, Lane: 0.31, Piece: 2.1}
	case t.Has("avx512vpopcntdq"):
		return WordShares{Scattered: 35, Alike: 1.5, LaneWord: 1.05, Lane: 0.28, Piece: 13, PieceRowwise: 1.8}
	case t.Has("avx512f"):
		return WordShares{Scattered: 8, Alike: 1, LaneWord: 1.25, Lane: 0.08, Piece: 3.3, PieceRowwise: 0.55}
	case t.Has("fma"):
		return WordShares{Scattered: 3.6, Alike: 1, LaneWord: 1.06, Lane: 0.12, Piece: 1.2, PieceRowwise: 0.57}
	}
	return WordShares{Scattered: 1.1, Alike: 1, LaneWord: 1.06, Lane: 0.08, Piece: 0.4, PieceRowwise: 0.36}
}

// NarrowWords are what words of fewer bits than 32 cost, of which a vector holds more. Byte and Short are what a bit of one of 8 and of 16 bits costs
// for a filter, as a share of what a bit of a Word does, and Full what one of 16 bits does where channels fill Words as well; Level is what a comparison of the narrower sums costs, as a share of a Level, ByteLevel that of sums of 8 bits where it differs, and Whole one of sums of words of 32 bits that are put
// together as well, in layers without groups; Piece is what a
// part of a word costs that is put together for a vector of positions, as a share of a Word.
type NarrowWords struct{ Byte, Short, Full, Level, Whole, Piece, ByteLevel float64 }

// LevelOf is what a comparison of sums of so many bits costs, as a share of a Level.
func (n NarrowWords) LevelOf(bits int) float64 {
	if bits == 8 && n.ByteLevel > 0 {
		return n.ByteLevel
	}
	return n.Level
}

// Bit is what a bit of a word of so many bits costs, as a share of what one of a Word does; full says that channels fill Words.
func (n NarrowWords) Bit(bits int, full bool) float64 {
	switch {
	case bits == 8:
		return n.Byte
	case full:
		return n.Full
	}
	return n.Short
}

// NarrowWords are t's, from layers of 1x1 and 3x3 windows of 1 to 24 channels on 2026-11-22: estimated cycles on 32-bit Arm, times on an AMD EPYC (Zen 5) with
// t's features on x86, words of 8 bits with AVX-512 on 2026-11-26. Those of 64-bit Arm are of sums that leave as f32 (16 to 128 channels on 2026-11-24, estimated cycles of rpi3); short sums have costs of their own (SumCosts).
func (t Target) NarrowWords() NarrowWords {
	piece := t.WordShares().PieceRowwise
	switch t.MeasuredOn() {
	case rpi3().Name, rpi4().Name, rpi5().Name, jetsonTX2().Name, pixel1().Name:
		return NarrowWords{Byte: 2.4, Short: 1.5, Full: 1.5, Level: 1, Whole: 1, Piece: 1.1}
	case rpi3ARM().Name:
		return NarrowWords{Byte: 1, Short: 1.35, Full: 1.35, Level: 0.9, Whole: 1, Piece: 0.8}
	case zen5:
		return NarrowWords{Byte: 1.2, Short: 1.3, Full: 1.3, Level: 0.3, Whole: 0.3, Piece: piece, ByteLevel: 0.08}
	case x86v4().Name:
		return NarrowWords{Byte: 0.7, Short: 1.1, Full: 1.1, Level: 0.98, Whole: 1, Piece: piece, ByteLevel: 0.3}
	case x86v3().Name:
		return NarrowWords{Byte: 0.75, Short: 1.12, Full: 1.12, Level: 0.7, Whole: 1, Piece: piece}
	}
	return NarrowWords{Byte: 1.05, Short: 1.1, Full: 1.1, Level: 0.9, Whole: 1, Piece: piece}
}

// Fitted are SumCosts that were fitted to measurements.
type Fitted struct {
	SumCosts
	Date, Machine string // of the measurements
}

// MeasuredOn is the name of the target whose measurements t's costs are fitted to: itself, or the one that is most like it; "" if
// nothing is known of it. zen5 is any x86-64 with AVX-512 and vpopcntdq.
func (t Target) MeasuredOn() string {
	switch t.Arch {
	case "aarch64":
		for _, like := range []Target{rpi4(), rpi5(), jetsonTX2(), pixel1()} {
			if t.CPU == like.CPU {
				return like.Name
			}
		}
		return rpi3().Name
	case "arm":
		return rpi3ARM().Name
	case "x86_64":
		switch {
		case !t.Has("fma"): // each is a call
			return x86v1().Name
		case t.Has("avx512vpopcntdq"):
			return zen5
		case t.Has("avx512f"):
			return x86v4().Name
		}
		return x86v3().Name
	}
	return ""
}

// Measured returns the target that measurements are kept of under a name that MeasuredOn gives. It fails as Lookup.
func Measured(name string) (Target, error) {
	if name != zen5 {
		return Lookup(name)
	}
	t := x86v4()
	t.Name, t.Features = zen5, append(t.Features, "avx512vpopcntdq", "avx512vnni")
	t.CountOps = countOpsX86(t.Features)
	return t, nil
}

// zen5 stands for x86-64 with AVX-512, vpopcntdq and, where a machine says so, vnni.
const zen5 = "zen5"

// Sums are t's costs; the zero SumCosts for a target that nothing is known of.
func (t Target) Sums() SumCosts {
	if t.sums != nil {
		return *t.sums
	}
	c := FittedTo(t.MeasuredOn()).SumCosts
	switch {
	case t.Arch == "x86_64" && !t.vnni():
		c.Dot, c.UnpackByte = plainDot*c.Fma, c.Unpack
		if t.Has("avx2") {
			c.Dot = widenedDot
		}
	case t.pairs():
		if m, err := Measured(t.MeasuredOn()); err == nil && !m.pairs() { // which has products of four
			c.Dot = pairsDot * c.Fma
		}
	}
	return c
}

// pairs says that t multiplies vectors of bytes and adds neighbouring products to sums of 32 bits, and has no products of four.
func (t Target) pairs() bool {
	return (t.Arch == "aarch64" || t.Arch == "arm") && t.Has("neon") && !t.Has("dotprod")
}

// vnni says that t adds products of four bytes to each sum of 32 bits.
func (t Target) vnni() bool { return t.Has("avx512vnni") && t.Has("avx512bw") }

// WithSums is t with other costs, to try them.
func (t Target) WithSums(c SumCosts) Target {
	t.sums = &c
	return t
}

// FirstSums are what t's costs are taken to be before they are fitted, and what they stay near to where measurements do not tell one from
// another: numbers of instructions on Arm, parts of cycles on x86.
func (t Target) FirstSums() SumCosts {
	var c SumCosts
	switch t.Arch {
	case "aarch64":
		if c = sumsARM64(); !t.InOrder {
			c.Word, c.ShortWord, c.ShortPlane, c.LongPlane, c.DenseWord, c.HalfWord, c.ByteWord, c.Piece, c.NarrowPiece = 0.47, 0.41, 0.5, 1, 0.46, 0.23, 0.13, 0.54, 0.55
		}
		if t.Has("dotprod") { // sdot, by element
			c.Dot, c.UnpackByte = 1, 0.25
		}
	case "arm":
		c = sumsARM()
	case "x86_64":
		c = sumsX86(t)
	}
	switch {
	case c.Dot > 0:
	case t.pairs():
		c.Dot, c.UnpackByte = pairsDot*c.Fma, c.Unpack
	default: // no instruction
		c.Dot, c.UnpackByte = plainDot*c.Fma, c.Unpack
	}
	return c
}

// What a Dot of Quad products takes without an instruction for it, in multiplications and additions of f32.
const (
	plainDot = 12 // four of each, and conversions
	pairsDot = 4  // smull and sadalp of two halves
)

// widenedDot is a Dot by vpmaddwd of widened bytes, in cycles on an AMD EPYC (Zen 5), with AVX2 and with AVX-512: of a stem of 3 channels and of a
// 3x3 layer of 256 on 2026-11-22.
const widenedDot = 1.55

// NarrowDot is the share of a Dot that products take of which so many steps of Quad channels are added in 16 bits before sums of 32 bits get
// them, 0 being none. On Arm by estimated cycles of 3x3 layers of 128 and 256 channels, on x86-64 with AVX2 by times on an AMD EPYC (Zen 5), where
// AVX-512 takes a quarter less, on 2026-11-22.
func (t Target) NarrowDot(steps int64) float64 {
	switch {
	case t.pairs() && steps > 1 && t.Arch == "arm":
		return 0.68
	case t.pairs() && steps > 1:
		return 0.84
	case t.Arch == "x86_64" && t.Has("avx2") && !t.vnni() && steps > 0:
		return float64(2*steps+1) / float64(4*steps)
	}
	return 1
}

// DirectDot is what a product of bytes takes where each filter reads a channel of its own, one product a sum, as a share of an Fma: such layers take 0.5 to 0.7 of those of f32, by times on an AMD EPYC (Zen 5)
// and by estimated cycles of rpi3 and rpi4, where what compares sums of 3x3 layers of 64 and 96 channels takes less than a Level, on 2026-11-24.
func (t Target) DirectDot() float64 {
	if t.Arch == "aarch64" {
		return 0.35
	}
	return 0.6
}

// ShortDot is what a vector of products of bytes takes that are added to sums of 16 bits, in cycles: 3x3 layers of 28x28x96 and 3 bits in 16 to 96 groups, by estimated cycles of boards and
// by times on an AMD EPYC (Zen 5) on 2026-11-27.
func (t Target) ShortDot() float64 {
	if t.Arch == "aarch64" && !t.InOrder {
		return 0.5
	}
	return 1
}

// GroupedDot is what products of bytes of layers of groups take, of what those of layers without groups do: 3x3 layers of 28x28x96 in 2, 4 and 12 groups take 1.3 to 1.6 times on rpi5, and in 16 1.3 times on rpi3, by estimated cycles on 2026-11-24, and in 2 groups 1.12 times on
// an AMD EPYC (Zen 5) by times on 2026-11-26.
func (t Target) GroupedDot() float64 {
	switch {
	case t.Arch == "aarch64":
		return 1.35
	case t.vnni():
		return 1.15
	}
	return 1
}

// NarrowProducts is how many products of a step a lane of 16 bits has then: those of two channels where vpmaddubsw adds neighbours.
func (t Target) NarrowProducts() int {
	if t.Arch == "x86_64" {
		return 2
	}
	return 1
}

// Quad is the number of channels whose products a Dot adds up.
const Quad = 4

// sumsARM64 are instructions of such layers under qemu, for rpi3; of short sums rounded cycles, by its estimate.
func sumsARM64() SumCosts {
	return SumCosts{
		Word: 0.96, PlaneWord: 1.5,
		ShortWord: 1, DenseWord: 1, HalfWord: 0.6, ByteWord: 0.33, Piece: 1.5, NarrowPiece: 1.5, Whole: 10, ShortLevel: 0.1, ShortPlane: 1, LongPlane: 1,
		Fma: 1, Load: 1, Position: 1, Step: 1.3,
		Unpack: 0.95, Level: 1,
	}
}

// sumsARM are instructions likewise, for rpi3-armv7.
func sumsARM() SumCosts {
	return SumCosts{
		Word: 1.06, PlaneWord: 1.83,
		Fma: 1, Load: 1.5, Position: 1, Step: 3.2,
		Unpack: 1.15, Level: 2.5,
	}
}

// sumsX86 are cycles of the same layers on an AMD EPYC (Zen 5) with t's features switched on.
func sumsX86(t Target) SumCosts {
	c := SumCosts{Word: 0.33, PlaneWord: 0.475, Fma: 0.5, Load: 0.05, Position: 0.1, Step: 0.25, Byte: 0.04, FarByte: 0.1, Unpack: 0.09, Level: 0.13}
	switch {
	case !t.Has("fma"): // each is a call
		c.Word, c.PlaneWord, c.Fma, c.Unpack, c.Level = 1.06, 1.52, 18, 0.3, 0.5
	case t.Has("avx512vpopcntdq"):
		c.Word, c.PlaneWord, c.Unpack, c.Level = 0.056, 0.062, 0.045, 0.067
	case t.Has("avx512f"):
		c.Word, c.PlaneWord, c.Fma, c.Unpack, c.Level = 0.16, 0.245, 1, 0.045, 0.067
	}
	if t.vnni() {
		c.Dot, c.UnpackByte = 0.45, 0.02
	}
	return c
}

// SinglePositions says that t adds up several planes of narrow words best for one position at a time (cost.SinglePosition), as the A72 does by estimate, and the A57.
func (t Target) SinglePositions() bool { return t.likeA72() }

// likeA72 says that t is a Cortex-A72 or an A57, of which LLVM has one model.
func (t Target) likeA72() bool {
	on := t.MeasuredOn()
	return on == rpi4().Name || on == jetsonTX2().Name
}

// MostThresholds is up to how many thresholds take the place of adding, shifting and clipping a sum (Riptide's glue), shifts being other ones in each lane. A level of 3 bits, of 7 thresholds, is searched for by 3 comparisons
// of what may be a short sum, while those that are shifted are of 32 bits: SqueezeNet of 3 bits takes 7, 10 and 7 % less by thresholds on rpi3, rpi4 and rpi5, 4 % less on rpi3-armv7 (estimated cycles), and by time on a
// Zen 5 11 % less with AVX-512 and 6 % less with AVX2 (ripc bench examples/squeezenet/squeezenet_a3.json --target rpi3; layers whose sums have 32 bits take up to 6 % more with AVX-512). Levels of 4 bits
// have 15. On Cortex-M, lane by lane, the shift costs 1 to 2 % less than 3 comparisons.
func (t Target) MostThresholds() int {
	if t.Arch == "thumb" {
		return 1
	}
	return 7
}

// MostCompares is how many comparisons levels of a sum cost by a shift, and at most by so few thresholds (MostThresholds) that they are searched: those of vectors that are compared into masks or shifted lane by lane
// take as long as 4, others as 8, lane by lane on Cortex-M as 2.
func (t Target) MostCompares() int {
	switch {
	case t.Arch == "thumb":
		return 2
	case t.Arch == "x86_64" && t.Has("avx2"):
		return 4
	}
	return 8
}

// SignedBytes says that t multiplies bytes of levels as signed numbers: x86-64 has products of an unsigned and a signed byte, NEON of two
// of a kind.
func (t Target) SignedBytes() bool { return t.Arch == "aarch64" || t.Arch == "arm" }

// RoundedProducts says that one instruction of t multiplies lanes of 32 bits, and rounds the upper halves of the products; others round sums of 64 bits once for as much as twice.
func (t Target) RoundedProducts() bool { return t.Has("neon") }

// CopyWait is how many operations of vectors t could do while a block of rows waits for a copy of its input: on x86 a vector that lies across two that have just been stored is loaded when both are
// in the first cache, some 50 cycles later. By time on a Zen 5, 3x3 layers in steps of 2 of 1 to 4 channels take 922 to 1702 cycles in blocks of 2 of 14 rows and 486 to 1235 in one. Elsewhere it is 0: cores that work in order
// wait for each load anyway, and others of Arm have not been measured.
func (t Target) CopyWait() int {
	if t.Arch == "x86_64" {
		return 150
	}
	return 0
}

// BroadcastLoads says that t multiplies all lanes by a number in memory as fast as by one in a register, so that it does not matter whether
// the numbers of a sum lie side by side.
func (t Target) BroadcastLoads() bool { return t.Arch == "x86_64" }

// ScatteredStores says whether to store the lanes of vectors so many bytes apart costs less than to store them side by side and to move them
// later. x86-64 takes two operations for each lane, so that this pays only where a later pass would read lanes from a page each: from times of
// 1x1 and 3x3 layers of 7x7 to 112x112 pixels on an AMD EPYC (Zen 5) on 2026-11-22, and from estimated cycles on Arm, where it always does.
func (t Target) ScatteredStores(apart int) bool { return t.Arch != "x86_64" || apart > 4096 }
