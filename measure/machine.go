package measure

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CPU is what Linux calls the processor, or, where it has no name for it, the board; elsewhere the architecture in Go's words.
func CPU() string {
	other := runtime.GOARCH
	if board, err := os.ReadFile("/proc/device-tree/model"); err == nil {
		other = strings.Trim(string(board), "\x00\n ")
	}
	return valueOf("/proc/cpuinfo", "model name", ":", other)
}

// System is what the system calls itself.
func System() string {
	return strings.Trim(valueOf("/etc/os-release", "PRETTY_NAME", "=", runtime.GOOS), `"`)
}

// Load is how many threads have wanted to run in the last minute, on average: 0 on a quiet machine, and where Linux does not say it.
func Load() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

// valueOf finds a line "KEY SEP VALUE" in a file of the system, or gives other.
func valueOf(file, key, sep, other string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return other
	}
	for line := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(line, sep); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return other
}
