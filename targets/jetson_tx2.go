package targets

// jetsonTX2 stands for the four Cortex-A57 of a Jetson TX2; its two Denver 2 cores run the same
// code.
func jetsonTX2() Target {
	t := arm64Board("jetson-tx2", "cortex-a57", 2<<20)
	t.ShortLookups = true
	t.ClockMHz = 2000 // NVIDIA Jetson TX2 data sheet, Cortex-A57
	t.Like = "rpi4"
	t.Board = "NVIDIA Jetson TX2, 4 x Cortex-A57 (and 2 x Denver 2) out of order, two vector pipes, slow tbl"
	return t
}
