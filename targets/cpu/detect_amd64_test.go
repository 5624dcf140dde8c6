package cpu

import (
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// TestEveryBit: a feature whose registers the system does not save is not there.
func TestEveryBit(t *testing.T) {
	noAVX := reported(func(ids ...cpuid.FeatureID) bool {
		return !slices.Contains(ids, cpuid.AVX) && !slices.Contains(ids, cpuid.AVX2)
	})
	for _, f := range []string{"fma", "f16c", "avxvnni"} {
		if noAVX[f] {
			t.Errorf("%s is there without AVX", f)
		}
	}
	if all := reported(func(...cpuid.FeatureID) bool { return true }); !all["fma"] || !all["avxvnni"] {
		t.Error("with all bits set, fma is missing")
	}
}
