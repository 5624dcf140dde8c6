package rows_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ripc/codegen/llvm/rows"
	"ripc/internal/need"
	"ripc/targets"
)

// TestRows: every target with an operating system has a row; chips without, and devices of OpenCL, are not for LLVM.
func TestRows(t *testing.T) {
	for _, tg := range targets.All() {
		r, ok := rows.Of(tg)
		if ok == (tg.Bare || tg.Has("cpu") || tg.Has("gpu")) { // chips, and devices of OpenCL
			t.Errorf("%s: %+v, %v", tg.Name, r, ok)
		}
		for _, f := range tg.Features {
			if ok && (!strings.Contains(","+r.Attrs+",", ",+"+f+",") || strings.Contains(","+r.Attrs+",", ",-"+f+",")) {
				t.Errorf("%s: %s is needed, but there is %s", tg.Name, f, r.Attrs)
			}
		}
	}
	tg, err := targets.Lookup("rpi3")
	if r, _ := rows.Of(tg); err != nil || r.Attrs != "+fp-armv8,+neon,+crc,-aes,-sha2" {
		t.Errorf("rpi3: %s", r.Attrs)
	}
}

// TestLLVMKnowsEveryFeature runs llc on a small module with each target's flags: an unknown feature or CPU is only a
// warning to llc, and would silently give slow code.
func TestLLVMKnowsEveryFeature(t *testing.T) {
	llc, err := exec.LookPath("llc-22")
	if err != nil {
		llc, err = exec.LookPath("llc-19")
	}
	need.OK(t, err)
	for _, tg := range targets.All() {
		r, ok := rows.Of(tg)
		if !ok {
			continue
		}
		cmd := exec.Command(llc, "-mtriple="+r.Triple, "-mcpu="+r.CPU, "-mattr="+r.Attrs, "-o", os.DevNull)
		cmd.Stdin = strings.NewReader("define i32 @f() {\n  ret i32 0\n}\n")
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("not a recognized")) || len(out) > 0 {
			t.Errorf("%s: %v: %s", tg.Name, err, out)
		}
	}
}
