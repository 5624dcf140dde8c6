package measure

import "testing"

// TestProcessor names processors that Linux describes. Two designs of one name are two.
func TestProcessor(t *testing.T) {
	for _, c := range []struct{ info, want string }{
		{"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n", "AMD EPYC, family 25 model 17"},
		{"processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\ncpu family\t: 25\n", "AMD EPYC, family 26 model 2"},
		{"processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\nHardware\t: BCM2835\n", "ARMv7 Processor rev 4 (v7l)"},
		{"processor\t: 0\nBogoMIPS\t: 38.40\nCPU part\t: 0xd03\n", ""},
	} {
		if got := processor(c.info); got != c.want {
			t.Errorf("%q: %q, want %q", c.info, got, c.want)
		}
	}
}
