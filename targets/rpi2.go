package targets

// rpi2 is the Raspberry Pi 2. Its NEON unit is 64 bits wide: a 128-bit instruction takes two
// cycles.
func rpi2() Target {
	t := armBoard("rpi2", "cortex-a7", "cortex-a7")
	t.ClockMHz = 900 // raspberrypi.com/products/raspberry-pi-2-model-b
	t.Like = "rpi3-armv7"
	t.Board = "Raspberry Pi 2 (BCM2836), 4 x Cortex-A7 in order, half a 128-bit vector instruction a cycle"
	return t
}
