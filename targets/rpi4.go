package targets

// rpi4 is the Raspberry Pi 4 with a 64-bit system. Its Cortex-A72, too, lacks the cryptography
// extension.
func rpi4() Target {
	t := arm64Board("rpi4", "cortex-a72", 1<<20)
	t.ShortLookups = true
	t.ClockMHz = 1500 // Raspberry Pi 4 Model B product brief of 2019; revisions from 1.4 on reach 1800
	t.Board = "Raspberry Pi 4 (BCM2711), 4 x Cortex-A72 out of order, two vector pipes, slow tbl"
	return t
}
