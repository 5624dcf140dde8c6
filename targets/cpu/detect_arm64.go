package cpu

import "golang.org/x/sys/cpu"

const arch = "aarch64"

// detect says of every feature that can be checked whether it is there, from the kernel's HWCAP
// words.
func detect() map[string]bool {
	c := &cpu.ARM64
	return map[string]bool{
		"neon": c.HasASIMD, "fp-armv8": c.HasFP, "crc": c.HasCRC32, "lse": c.HasATOMICS, "rdm": c.HasASIMDRDM,
		"fullfp16": c.HasFPHP && c.HasASIMDHP, "fp16fml": c.HasASIMDFHM, "dotprod": c.HasASIMDDP,
		"i8mm": c.HasI8MM, "sve": c.HasSVE, "sve2": c.HasSVE2, "jsconv": c.HasJSCVT, "complxnum": c.HasFCMA,
		"rcpc": c.HasLRCPC, "ccpp": c.HasDCPOP, "dit": c.HasDIT, "aes": c.HasAES && c.HasPMULL,
		"sha2": c.HasSHA1 && c.HasSHA2, "sha3": c.HasSHA3 && c.HasSHA512, "sm4": c.HasSM3 && c.HasSM4,
	}
}
