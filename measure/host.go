package measure

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Celsius is the temperature of the processor's hottest part, or 0 if the system does not report
// any.
func Celsius() float64 {
	hottest := 0.0
	for _, pattern := range []string{"/sys/class/thermal/thermal_zone*/temp", "/sys/class/hwmon/hwmon*/temp*_input"} {
		for _, v := range numbers(pattern) {
			if c := float64(v) / 1000; c > hottest && c < 150 {
				hottest = c
			}
		}
		if hottest > 0 {
			break
		}
	}
	return hottest
}

// Cache is the size in bytes of the largest cache of a core, or a large default if the system does
// not report it.
func Cache() int64 {
	largest := int64(0)
	for _, v := range numbers("/sys/devices/system/cpu/cpu0/cache/index*/size") {
		largest = max(largest, v)
	}
	if largest == 0 {
		largest = 16 << 20
	}
	return min(largest, 64<<20)
}

// Memory is the size of the machine's memory in bytes, or 0 if the system does not report it.
func Memory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return parseNumber(strings.TrimSuffix(valueOf(string(info), "MemTotal", ":"), " kB")) << 10
}

// numbers reads the numbers in the files that match a pattern.
func numbers(pattern string) []int64 {
	files, _ := filepath.Glob(pattern) // a bad pattern names none
	var all []int64
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil {
			all = append(all, parseNumber(strings.TrimSpace(string(data))))
		}
	}
	return all
}

// parseNumber reads a number with the unit K or M; 0 if text is none.
func parseNumber(text string) int64 {
	unit := int64(1)
	for suffix, u := range map[string]int64{"K": 1 << 10, "M": 1 << 20} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = rest, u
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n * unit
}
