package targets

// rpi5 is the Raspberry Pi 5: ARMv8.2-A with dot products of bytes. It has the cryptography
// extension, too, which no kernel uses.
func rpi5() Target {
	t := arm64Board("rpi5", "cortex-a76", 512<<10)
	t.Features = append(t.Features, "lse", "rdm", "rcpc", "fullfp16", "dotprod")
	t.CountOps = 1 // udot adds the bytes of four counts up
	t.L1 = 64 << 10
	t.ClockMHz = 2400 // raspberrypi.com/products/raspberry-pi-5
	t.Board = "Raspberry Pi 5 (BCM2712), 4 x Cortex-A76 out of order, two vector pipes, dot products"
	return t
}
