package targets

// rpi3 is the Raspberry Pi 3 with a 64-bit system. Its Cortex-A53 was built without the
// cryptography extension that LLVM's cortex-a53 has.
func rpi3() Target {
	t := arm64Board("rpi3", "cortex-a53", 512<<10)
	t.InOrder = true
	t.ClockMHz = 1200 // raspberrypi.com/products/raspberry-pi-3-model-b
	t.Board = "Raspberry Pi 3 (BCM2837), 4 x Cortex-A53 in order, one 128-bit vector instruction a cycle"
	return t
}
