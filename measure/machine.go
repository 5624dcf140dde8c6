package measure

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CPU is Linux's name of the processor, with the numbers of its design if known. One name may cover
// several processors: clouds call all of theirs `AMD EPYC`. A processor without a name gets the
// board's; on other systems it is the architecture in Go's words.
func CPU() string {
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := processor(string(info)); name != "" {
			return name
		}
	}
	if board, err := os.ReadFile("/proc/device-tree/model"); err == nil {
		return strings.Trim(string(board), "\x00\n ")
	}
	return runtime.GOARCH
}

// processor names the first processor of /proc/cpuinfo; "" if it has no name.
func processor(info string) string {
	name := valueOf(info, "model name", ":")
	family, model := valueOf(info, "cpu family", ":"), valueOf(info, "model", ":")
	if name == "" || family == "" || model == "" {
		return name
	}
	return name + ", family " + family + " model " + model
}

// System is the system's own name.
func System() string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	return cmp.Or(strings.Trim(valueOf(string(release), "PRETTY_NAME", "="), `"`), runtime.GOOS)
}

// Load is the average number of runnable threads in the last minute. It is 0 on a quiet machine,
// and if Linux does not report it.
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

// valueOf returns VALUE of the first line "KEY SEP VALUE" of a text, or "".
func valueOf(text, key, sep string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, sep); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
