package boards

// Timings are how many cycles the instructions of a core take, by the core's own manual.
type Timings struct {
	Core   string // as compilers call it
	Manual string // the tables are in it
	Rows   []Timing
}

// Timing is a row of Timings. An instruction takes Cycles, and PerWord for each word that it moves.
// Refill is for the pipeline, where control goes elsewhere than to the next instruction.
type Timing struct {
	Mnemonics               string // without conditions, sizes, and the s of those that set flags
	Cycles, PerWord, Refill int
	Source                  string // tables and sections of the manual; where it has a range, which end is taken
	Effect                  Effect
}

// Effect says which rules for neighbours an instruction obeys: engine/estimate applies them.
type Effect int

// The effects.
const (
	Plain    Effect = iota
	Data            // computes an integer: a load or store behind it waits a cycle if that is its address (3.3.2)
	Load            // of one word or less: another one behind it, or a store, takes a cycle less (3.3.2)
	Store           // likewise; it takes one cycle where its offset is immediate (3.3.2)
	Multiple        // moves several words
	// on floats: the instruction behind it waits a cycle for the result, but not for an addend
	// (7.2.3)
	Arithmetic
	Move // between float registers and others
	Fold // takes no cycle behind a short instruction (table 3-1)
)

// cortexM4Timings is the table of Arm's manual. Its P is the cycles in which the pipeline is
// refilled. It is 1 to 3 "depending on the alignment and width of the target instruction, and
// whether the processor manages to speculate the address early". Loads of the program counter are
// said to take 3.
func cortexM4Timings() *Timings {
	const (
		known   = 1 // P where the instruction has the address of its target
		unknown = 3 // P where a register or memory has it
	)
	return &Timings{Core: "cortex-m4", Manual: "Arm Cortex-M4 Technical Reference Manual r0p1, DDI 0439D",
		Rows: []Timing{
			{Mnemonics: "adc add addw adr and asr bfc bfi bic clz eor lsl lsr mla mls mov movt movw mul mvn neg orn " +
				"orr rbit rev rev16 revsh ror rrx rsb sbc sbfx smlal smull ssat sub subw sxtb sxth ubfx umlal " +
				"umull usat uxtb uxth",
				Cycles: 1, Refill: unknown, Source: "table 3-1; P where the result is the program counter: 3, the most",
				Effect: Data},
			{Mnemonics: "cmn cmp nop teq tst", Cycles: 1, Source: "table 3-1"},
			{Mnemonics: "pkhbt pkhtb qadd qadd16 qadd8 qasx qdadd qdsub qsax qsub qsub16 qsub8 sadd16 sadd8 sasx sel " +
				"shadd16 shadd8 shasx shsax shsub16 shsub8 smlabb smlabt smlad smladx smlalbb smlalbt smlald " +
				"smlaldx smlaltb smlaltt smlatb smlatt smlawb smlawt smlsd smlsdx smlsld smlsldx smmla smmlar " +
				"smmls smmlsr smmul smmulr smuad smuadx smulbb smulbt smultb smultt smulwb smulwt smusd smusdx " +
				"ssat16 ssax ssub16 ssub8 sxtab sxtab16 sxtah sxtb16 uadd16 uadd8 uasx uhadd16 uhadd8 uhasx uhsax " +
				"uhsub16 uhsub8 umaal uqadd16 uqadd8 uqasx uqsax uqsub16 uqsub8 usad8 usada8 usat16 usax usub16 " +
				"usub8 uxtab uxtab16 uxtah uxtb16",
				Cycles: 1, Source: "table 3-2", Effect: Data},
			{Mnemonics: "sdiv udiv", Cycles: 12, Source: "table 3-1: 2 to 12, by the operands; the most is taken",
				Effect: Data},
			{Mnemonics: "ldr ldrb ldrh ldrsb ldrsh", Cycles: 2, Refill: unknown,
				Source: "table 3-1; 3.3.2: one less behind such a load that its address does not depend on; into the " +
					"program counter, P is 3", Effect: Load},
			{Mnemonics: "str strb strh", Cycles: 2,
				Source: "table 3-1; 3.3.2: 1 with an immediate offset, and behind a load that its address does not " +
					"depend on", Effect: Store},
			{Mnemonics: "ldm ldmdb ldmia ldrd pop", Cycles: 1, PerWord: 1, Refill: unknown,
				Source: "table 3-1, 1 + N; with the program counter among the registers, P is 3, as of other " +
					"loads of it",
				Effect: Multiple},
			{Mnemonics: "push stm stmdb stmia strd", Cycles: 1, PerWord: 1,
				Source: "table 3-1, 1 + N", Effect: Multiple},
			{Mnemonics: "b bl cbnz cbz", Cycles: 1, Refill: known,
				Source: "table 3-1; P where it is taken: 1, the least, as the address is in the instruction"},
			{Mnemonics: "blx bx", Cycles: 1, Refill: unknown,
				Source: "table 3-1; P: 3, the most, as the address is in " +
					"a register"},
			{Mnemonics: "tbb tbh", Cycles: 3, Refill: unknown,
				Source: "3.3.2: two for the load, one for the sum, P is 3"},
			{Mnemonics: "it", Cycles: 1,
				Source: "table 3-1; note d: none behind an instruction of 16 bits", Effect: Fold},
			{Mnemonics: "mrs msr", Cycles: 2, Source: "table 3-1: 1 or 2; the more is taken"},
			{Mnemonics: "vabs vcmp vcmpe vmrs vmsr vneg", Cycles: 1, Source: "table 7-1"},
			{Mnemonics: "vmov", Cycles: 1,
				Source: "table 7-1; 2 from or to registers of the core, other than of half a " +
					"double", Effect: Move},
			{Mnemonics: "vadd vcvt vcvtb vcvtr vcvtt vmul vnmul vsub", Cycles: 1,
				Source: "table 7-1; its note: the next instruction waits one cycle for the result", Effect: Arithmetic},
			{Mnemonics: "vfma vfms vfnma vfnms vmla vmls vnmla vnmls", Cycles: 3,
				Source: "table 7-1; its note: likewise, but for the addend of another of these", Effect: Arithmetic},
			{Mnemonics: "vdiv vsqrt", Cycles: 14, Source: "table 7-1; instructions on integers that may overlap are " +
				"added all the same", Effect: Arithmetic},
			{Mnemonics: "vldm vldmdb vldmia vldr vpop vpush vstm vstmdb vstmia vstr", Cycles: 1, PerWord: 1,
				Source: "table 7-1: 1 + N, for doubles 1 + 2 N; 3 of one double", Effect: Multiple},
		}}
}
