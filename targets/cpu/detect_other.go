//go:build !amd64 && !arm64 && !arm && !riscv64

package cpu

import "runtime"

const arch = runtime.GOARCH

// detect knows nothing here; no artifact is written for this architecture.
func detect() map[string]bool { return nil }
