package cpu

import "golang.org/x/sys/cpu"

const arch = "arm"

// detect says of every feature that can be checked whether it is there, from the kernel's HWCAP
// words.
func detect() map[string]bool {
	c := &cpu.ARM
	return map[string]bool{
		"neon": c.HasNEON, "vfp2": c.HasVFP, "vfp3": c.HasVFPv3, "vfp4": c.HasVFPv4, "d32": c.HasVFPD32,
		"hwdiv": c.HasIDIVT, "hwdiv-arm": c.HasIDIVA, "crc": c.HasCRC32, "aes": c.HasAES && c.HasPMULL,
		"sha2": c.HasSHA1 && c.HasSHA2,
	}
}
