package e2e_test

import (
	"bytes"
	"debug/elf"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/internal/need"
)

// TestProfile: objects for 32-bit Arm say that they are for application cores, whatever core's pipeline they are ordered for. GNU ld refuses to link others with a program.
func TestProfile(t *testing.T) {
	_, err := ripc.LLVM()
	need.OK(t, err)
	const tag = 7 // Tag_CPU_arch_profile (Addenda to the ABI of the Arm architecture, 3.3.5.2)
	for _, target := range []string{"rpi3-armv7", "rpi2", "generic-armv7"} {
		c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json", ripc.Options{Target: target, Emit: []codegen.Kind{codegen.Object}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(c.Files[codegen.Object]))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(".ARM.attributes")
		if s == nil {
			t.Fatalf("%s: no attributes", target)
		}
		attributes, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(attributes, []byte{tag, 'A'}) || bytes.Contains(attributes, []byte{tag, 'R'}) {
			t.Errorf("%s: not for application cores: %q", target, attributes)
		}
	}
}
