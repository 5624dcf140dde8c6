package targets

// SumCosts are what the inner steps of layers cost on a target, for estimates of which way to compute sums is cheapest.
type SumCosts struct {
	Unit string // "instructions" or "cycles"

	// Word is for the differing bits of a word of 32 channels, counted and added up for one filter, where weights have one
	// plane; PlaneWord where they have several.
	Word, PlaneWord float64
	// Of words that filters do not share: Scattered is for bringing one from anywhere into a vector, LaneWord is Word where they lie
	// side by side, and Lane is for an operation on one. Piece is for a part of a word that is put together for all filters.
	Scattered, LaneWord, Lane, Piece float64

	// In f32, a block of filters at a few positions takes one channel of the input after the other: Fma is for each vector of
	// sums, Load for each vector of weights, Position for each number of the input, Step for the loop.
	Fma, Load, Position, Step float64

	// Dot is for each vector of sums to which products of bytes of four channels are added, in the place of Fma; 0 where there is no
	// instruction for that.
	Dot float64

	// Byte is for a byte of weights that comes from a cache, each row of outputs anew; FarByte where a block of filters does
	// not fit the second one. Both are 0 where instructions are counted.
	Byte, FarByte float64

	// Unpack is for one bit of a level that becomes f32, UnpackByte for one of a level that becomes a byte, Level for one comparison of a sum with a threshold.
	Unpack, UnpackByte, Level float64
}

// Sums are t's costs; the zero SumCosts for a target that nothing is known of.
func (t Target) Sums() SumCosts {
	switch t.Arch {
	case "aarch64":
		return sumsARM64()
	case "arm":
		return sumsARM()
	case "x86_64":
		return sumsX86(t)
	}
	return SumCosts{}
}

// sumsARM64 are instructions under qemu, for rpi3 on 2026-11-22: bitserial 1x1 and 3x3 layers of 32 to 512 channels, 1 to
// 4 bits of activations by 1, 2, 4 and 5 planes of weights, each by both algorithms: ripc bench --json with --float and with
// --bitserial. schedule/cost/testdata/algorithms.txt has what was counted.
func sumsARM64() SumCosts {
	return SumCosts{
		Unit: "instructions",
		Word: 0.96, PlaneWord: 1.5, Scattered: 2.5, LaneWord: 1.3, Lane: 0.3, Piece: 2,
		Fma: 1, Load: 1, Position: 1, Step: 1.3,
		Unpack: 0.95, Level: 1,
	}
}

// sumsARM are instructions under qemu, for rpi3-armv7, measured like those of sumsARM64 and on the same day.
func sumsARM() SumCosts {
	return SumCosts{
		Unit: "instructions",
		Word: 1.06, PlaneWord: 1.83, Scattered: 3, LaneWord: 1.5, Lane: 0.35, Piece: 2,
		Fma: 1, Load: 1.5, Position: 1, Step: 3.2,
		Unpack: 1.15, Level: 2.5,
	}
}

// sumsX86 are cycles of the same layers on an AMD EPYC of 4.15 GHz (Zen 5), the fastest of at least 20 runs on one thread, with
// t's features switched on, measured on the same day.
func sumsX86(t Target) SumCosts {
	c := SumCosts{Unit: "cycles", Word: 0.33, PlaneWord: 0.475, Scattered: 1.2, LaneWord: 0.35, Lane: 0.04, Piece: 0.4, Fma: 0.5, Load: 0.05, Position: 0.1, Step: 0.25, Byte: 0.04, FarByte: 0.1, Unpack: 0.09, Level: 0.13}
	switch {
	case !t.Has("fma"): // each is a call
		c.Word, c.PlaneWord, c.Fma, c.Unpack, c.Level = 1.06, 1.52, 18, 0.3, 0.5
	case t.Has("avx512vpopcntdq"):
		c.Word, c.PlaneWord, c.Unpack, c.Level = 0.056, 0.062, 0.045, 0.067
		c.LaneWord, c.Lane, c.Scattered = 0.065, 0.018, 0.75
	case t.Has("avx512f"):
		c.LaneWord, c.Lane = 0.2, 0.02
		c.Word, c.PlaneWord, c.Fma, c.Unpack, c.Level = 0.16, 0.245, 1, 0.045, 0.067
	}
	if t.Has("avx512vnni") && t.Has("avx512bw") {
		c.Dot, c.UnpackByte = 0.45, 0.02
	}
	return c
}

// ShiftCompares is the number of comparisons with thresholds that cost as much as adding, shifting and clipping a sum (Riptide's glue),
// shifts being other ones in each lane. Between 1 and 3 comparisons, or 3 and 7, nothing finer can be told: 3x3 and 1x1 layers of 64 to
// 256 channels with 1 to 4 bits both ways, ripc bench --json on 2026-11-22 (instructions on Arm, times on x86). With 3 comparisons the
// shift costs 1 to 2 % more on Arm and x86, with 7 it costs 1 to 8 % less, but for SSE2, which has no such shifts; on Cortex-M, lane by
// lane, it costs 1 to 2 % less than 3 comparisons.
func (t Target) ShiftCompares() float64 {
	switch {
	case t.Arch == "thumb":
		return 2
	case t.Arch == "x86_64" && !t.Has("avx2"):
		return 8
	}
	return 4
}

// SignedBytes says that t multiplies bytes of levels as signed numbers: x86-64 has products of an unsigned and a signed byte, NEON of two
// of a kind.
func (t Target) SignedBytes() bool { return t.Arch == "aarch64" || t.Arch == "arm" }
