// Package human writes quantities for people, the same everywhere.
package human

import "fmt"

// Bytes is a size: in bytes as long as these have at most five digits, else in KiB or MiB.
func Bytes(n int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n >= 10*mib:
		return fmt.Sprintf("%.1f MiB", float64(n)/mib)
	case n >= 10*kib:
		return fmt.Sprintf("%.1f KiB", float64(n)/kib)
	}
	return fmt.Sprintf("%d B", n)
}
