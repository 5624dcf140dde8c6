package human

import "testing"

// TestBytes: each unit begins at ten of it.
func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 10239: "10239 B", 10240: "10.0 KiB", 10<<20 - 1: "10240.0 KiB", 10 << 20: "10.0 MiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
