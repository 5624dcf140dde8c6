package targets

// FittedTo are the costs that were fitted to the measurements on the target called name; zero if there are none.
func FittedTo(name string) Fitted {
	switch name {
	case "jetson-tx2": // estimates are off by a factor of at most 1.78
		return Fitted{SumCosts{Unit: "cycles", Word: 0.408, PlaneWord: 0.53, ExtraPlane: 0.0927, ShortWord: 0.403, DenseWord: 0.415, HalfWord: 0.225, ByteWord: 0.125, Piece: 0.517, NarrowPiece: 0.488, Whole: 8.14, ShortLevel: 0.0849, ShortPlane: 0.396, LongPlane: 0.635, Fma: 0.6, Load: 0.348, Position: 0.931, Step: 1.16, Dot: 1.63, Unpack: 0.827, UnpackByte: 0.624, Level: 0.612}, "2026-11-26", "estimated by LLVM 22.1.8's model of cortex-a57, without caches"}
	case "pixel1": // estimates are off by a factor of at most 1.56
		return Fitted{SumCosts{Unit: "cycles", Word: 0.384, PlaneWord: 0.538, ExtraPlane: 0.0921, ShortWord: 0.421, DenseWord: 0.418, HalfWord: 0.223, ByteWord: 0.112, Piece: 0.515, NarrowPiece: 0.459, Whole: 7.78, ShortLevel: 0.0924, ShortPlane: 0.331, LongPlane: 0.743, Fma: 0.642, Load: 0.227, Position: 0.942, Step: 1.14, Dot: 2.28, Unpack: 0.717, UnpackByte: 0.491, Level: 0.535}, "2026-11-26", "estimated by LLVM 22.1.8's model of kryo, without caches"}
	case "rpi3": // estimates are off by a factor of at most 1.55
		return Fitted{SumCosts{Unit: "cycles", Word: 1.07, PlaneWord: 1.25, ExtraPlane: 0.261, ShortWord: 0.992, DenseWord: 1.06, HalfWord: 0.609, ByteWord: 0.32, Piece: 1.4, NarrowPiece: 1.3, Whole: 10.9, ShortLevel: 0.11, ShortPlane: 1.28, LongPlane: 0.868, Fma: 1.25, Load: 1.12, Position: 1.04, Step: 1.33, Dot: 5.03, Byte: 0.0806, Unpack: 1.06, UnpackByte: 0.806, Level: 1.16}, "2026-11-26", "estimated by LLVM 22.1.8's model of cortex-a53, without caches"}
	case "rpi3-armv7": // estimates are off by a factor of at most 1.72
		return Fitted{SumCosts{Unit: "cycles", Word: 1.42, PlaneWord: 1.67, ExtraPlane: 0.18, Fma: 2.04, Load: 4.44, Position: 1.16, Step: 4.87, Dot: 8.23, Byte: 0.0733, FarByte: 1.99, Unpack: 1.37, UnpackByte: 0.709, Level: 2.68}, "2026-11-27", "estimated by LLVM 22.1.8's model of cortex-r52, taken for cortex-a53, without caches"}
	case "rpi4": // estimates are off by a factor of at most 1.75
		return Fitted{SumCosts{Unit: "cycles", Word: 0.402, PlaneWord: 0.537, ExtraPlane: 0.0923, ShortWord: 0.402, DenseWord: 0.418, HalfWord: 0.228, ByteWord: 0.124, Piece: 0.513, NarrowPiece: 0.487, Whole: 8.15, ShortLevel: 0.0879, ShortPlane: 0.418, LongPlane: 0.641, Fma: 0.602, Load: 0.345, Position: 0.932, Step: 1.16, Dot: 1.64, Unpack: 0.828, UnpackByte: 0.621, Level: 0.587}, "2026-11-26", "estimated by LLVM 22.1.8's model of cortex-a72, without caches"}
	case "rpi5": // estimates are off by a factor of at most 1.38
		return Fitted{SumCosts{Unit: "cycles", Word: 0.4, PlaneWord: 0.405, ExtraPlane: 0.197, ShortWord: 0.406, DenseWord: 0.409, HalfWord: 0.221, ByteWord: 0.115, Piece: 0.526, NarrowPiece: 0.499, Whole: 7.19, ShortLevel: 0.0963, ShortPlane: 0.393, LongPlane: 0.532, Fma: 0.211, Load: 0.312, Position: 0.844, Step: 1.15, Dot: 0.542, Byte: 0.0214, Unpack: 0.859, UnpackByte: 0.313, Level: 0.408}, "2026-11-26", "estimated by LLVM 22.1.8's model of neoverse-n1, taken for cortex-a76, without caches"}
	case "x86-64": // estimates are off by a factor of at most 1.20
		return Fitted{SumCosts{Unit: "cycles", Word: 1.11, PlaneWord: 1.4, ExtraPlane: 0.0139, Fma: 17.3, Load: 0.05, Position: 0.1, Step: 0.25, Dot: 216, Byte: 0.0299, FarByte: 0.1, Unpack: 0.291, UnpackByte: 0.3, Level: 0.381}, "2026-11-22", "AMD EPYC of 4.15 GHz (Zen 5), one thread"}
	case "x86-64-v3": // estimates are off by a factor of at most 1.26
		return Fitted{SumCosts{Unit: "cycles", Word: 0.357, PlaneWord: 0.493, ExtraPlane: 0.000508, Fma: 0.452, Load: 0.0497, Position: 0.0995, Step: 0.248, Dot: 6, Byte: 0.0239, FarByte: 0.129, Unpack: 0.0914, UnpackByte: 0.09, Level: 0.106}, "2026-11-22", "AMD EPYC of 4.15 GHz (Zen 5), one thread"}
	case "x86-64-v4": // estimates are off by a factor of at most 1.62
		return Fitted{SumCosts{Unit: "cycles", Word: 0.159, PlaneWord: 0.165, ExtraPlane: 0.0459, Fma: 0.268, Load: 0.0587, Position: 0.0963, Step: 0.359, Dot: 12, Byte: 0.017, FarByte: 0.1, Unpack: 0.107, UnpackByte: 0.045, Level: 0.14}, "2026-11-26", "AMD EPYC, family 26 model 2, one thread"}
	case "zen5": // estimates are off by a factor of at most 1.53
		return Fitted{SumCosts{Unit: "cycles", Word: 0.0473, PlaneWord: 0.0533, ExtraPlane: 0.000607, Fma: 0.366, Load: 0.0566, Position: 0.0973, Step: 0.332, Dot: 0.45, Byte: 0.0297, FarByte: 0.1, Unpack: 0.0425, UnpackByte: 0.02, Level: 0.0679}, "2026-11-22", "AMD EPYC of 4.15 GHz (Zen 5), one thread"}
	}
	return Fitted{}
}

// LookupsFittedTo are the times that were fitted to the same measurements, of look-ups for so many channels; false if there are none.
// Estimates are off by the factors behind.
func LookupsFittedTo(name string, channels int, reach Reach) (LookupTimes, bool) {
	switch (lookups{name, channels, reach}) {
	case lookups{"jetson-tx2", 4, ""}: // 1.74
		return LookupTimes{Lookup: 0.104, Widen: 0.0709, Sum: 0.188, Table: 1.42, Plane: 1.87, Level: 0.119}, true
	case lookups{"jetson-tx2", 4, "halves"}: // 1.15
		return LookupTimes{Lookup: 0.0885, Widen: 0.22, Sum: 0.231, Table: 1.69, Plane: 0.945, Level: 0.111}, true
	case lookups{"jetson-tx2", 6, "across"}: // 1.34
		return LookupTimes{Lookup: 0.864, Widen: 2.41, Sum: 1.5, Table: 3.12, Plane: 6.07, Level: 0.238}, true
	case lookups{"jetson-tx2", 8, "across"}: // 1.26
		return LookupTimes{Lookup: 0.807, Widen: 2.67, Sum: 1.44, Table: 2.41, Plane: 5.37, Level: 0.247}, true
	case lookups{"pixel1", 4, ""}: // 1.46
		return LookupTimes{Lookup: 0.0711, Widen: 0.129, Sum: 0.0057, Plane: 1.92, Level: 0.0969}, true
	case lookups{"pixel1", 4, "halves"}: // 1.19
		return LookupTimes{Lookup: 0.0704, Widen: 0.187, Sum: 0.236, Table: 2.05, Plane: 0.314, Level: 0.107}, true
	case lookups{"pixel1", 6, "across"}: // 1.11
		return LookupTimes{Lookup: 0.666, Widen: 2.95, Sum: 1.18, Table: 2.22, Plane: 5.67, Level: 0.26}, true
	case lookups{"pixel1", 8, "across"}: // 1.36
		return LookupTimes{Lookup: 0.681, Widen: 2.75, Sum: 1.12, Table: 1.61, Plane: 6.32, Level: 0.257}, true
	case lookups{"rpi3", 4, ""}: // 1.64
		return LookupTimes{Lookup: 0.166, Widen: 0.228, Sum: 0.0805, Plane: 4.26, Level: 0.143}, true
	case lookups{"rpi3", 4, "halves"}: // 1.15
		return LookupTimes{Lookup: 0.116, Widen: 0.4, Sum: 0.34, Table: 2.48, Plane: 2.78, Level: 0.117}, true
	case lookups{"rpi3-armv7", 4, ""}: // 1.76
		return LookupTimes{Lookup: 0.193, Widen: 0.475, Sum: 0.778, Table: 6.34, Plane: 7.11, Level: 0.433}, true
	case lookups{"rpi3-armv7", 6, ""}: // 1.00
		return LookupTimes{Lookup: 13.7, Widen: 0.995, Sum: 0.995, Table: 29.7, Plane: 19.7, Level: 0.476}, true
	case lookups{"rpi3-armv7", 5, ""}: // 1.00
		return LookupTimes{Lookup: 12.9, Widen: 0.994, Sum: 0.994, Table: 29.7, Plane: 19.5, Level: 0.467}, true
	case lookups{"rpi3-armv7", 6, "across"}: // 1.19
		return LookupTimes{Lookup: 8.88, Sum: 7.73, Table: 10.3, Plane: 34.5, Level: 0.414}, true
	case lookups{"rpi3-armv7", 8, "across"}: // 1.07
		return LookupTimes{Lookup: 5.36, Widen: 18.9, Sum: 11, Table: 5.09, Plane: 43.4, Level: 0.256}, true
	case lookups{"rpi4", 4, ""}: // 1.75
		return LookupTimes{Lookup: 0.104, Widen: 0.0719, Sum: 0.198, Table: 1.4, Plane: 1.81, Level: 0.125}, true
	case lookups{"rpi4", 4, "halves"}: // 1.16
		return LookupTimes{Lookup: 0.0883, Widen: 0.226, Sum: 0.233, Table: 1.54, Plane: 0.974, Level: 0.111}, true
	case lookups{"rpi4", 6, "across"}: // 1.35
		return LookupTimes{Lookup: 0.889, Widen: 2.39, Sum: 1.47, Table: 3.14, Plane: 6.45, Level: 0.266}, true
	case lookups{"rpi4", 8, "across"}: // 1.28
		return LookupTimes{Lookup: 0.811, Widen: 2.68, Sum: 1.42, Table: 2.43, Plane: 5.58, Level: 0.287}, true
	case lookups{"rpi5", 4, ""}: // 1.86
		return LookupTimes{Lookup: 0.0795, Widen: 0.0293, Sum: 0.0578, Plane: 2.64, Level: 0.16}, true
	case lookups{"rpi5", 5, ""}: // 1.58
		return LookupTimes{Lookup: 0.0697, Widen: 0.197, Sum: 0.0959, Table: 1.09, Plane: 3.07, Level: 0.174}, true
	case lookups{"rpi5", 4, "halves"}: // 1.22
		return LookupTimes{Lookup: 0.0609, Widen: 0.198, Sum: 0.26, Table: 1.71, Plane: 0.861, Level: 0.113}, true
	case lookups{"rpi5", 6, "across"}: // 1.40
		return LookupTimes{Lookup: 0.873, Widen: 2.62, Sum: 1.63, Table: 3, Plane: 6.75, Level: 0.265}, true
	case lookups{"rpi5", 8, "across"}: // 1.20
		return LookupTimes{Lookup: 0.843, Widen: 2.16, Sum: 1.57, Table: 2.8, Plane: 5.73, Level: 0.256}, true
	}
	return LookupTimes{}, false
}
