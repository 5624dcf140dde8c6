package targets

// pixel1 is the Google Pixel of 2016. qemu has no Kryo; its cortex-a57 has the same instructions.
func pixel1() Target {
	t := arm64Board("pixel1", "kryo", 1<<20)
	t.QemuCPU = "cortex-a57"
	t.SlowPairSums = true // by LLVM's model (AArch64SchedKryo.td)
	t.ClockMHz = 2150     // Google Pixel specifications: the faster two cores of the Snapdragon 821
	t.Like = "rpi4"
	t.Board = "Google Pixel (Snapdragon 821), 2 + 2 x Kryo out of order, two vector pipes"
	return t
}
