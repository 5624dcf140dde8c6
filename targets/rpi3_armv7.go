package targets

// rpi3ARM is the Raspberry Pi 3 with a 32-bit system that promises ARMv7 alone. Instructions that
// ARMv8 adds to the 32-bit set are left out, and qemu's cortex-a15 (there is no 32-bit cortex-a53)
// refuses them.
func rpi3ARM() Target {
	t := armBoard("rpi3-armv7", "cortex-a53", "cortex-a15")
	t.ClockMHz = 1200 // raspberrypi.com/products/raspberry-pi-3-model-b
	t.Board = "Raspberry Pi 3 (BCM2837) with a 32-bit system, 4 x Cortex-A53 in order, one 128-bit vector " +
		"instruction a cycle"
	return t
}
