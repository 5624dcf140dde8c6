package targets

// pixel1 is the Google Pixel of 2016. qemu has no Kryo; its cortex-a57 has the same instructions.
func pixel1() Target {
	return Target{
		Name:       "pixel1",
		Arch:       "aarch64",
		CPU:        "kryo",
		Features:   []string{"fp-armv8", "neon", "crc"},
		VectorBits: 128,
		Registers:  32,
		CountOps:   2, // cnt, uaddlp; uadalp is the addition
		ShortSums:  true,
		PairLoads:  true,
		L1:         32 << 10,
		L2:         1 << 20,
		Cores:      4,
		ClockMHz:   2150, // Google Pixel specifications: the faster two cores of the Snapdragon 821
		Threads:    4,
		QemuCPU:    "cortex-a57",
		Like:       "rpi4",
		Board:      "Google Pixel (Snapdragon 821), 2 + 2 x Kryo out of order, two vector pipes",
	}
}
