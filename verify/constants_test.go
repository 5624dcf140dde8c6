package verify_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc/codegen"
	"ripc/ir"
	"ripc/runtime"
	"ripc/targets"
	"ripc/verify"
)

// TestSilentConstant flips bits that no result shows: the payload of a NaN, and a bit of a threshold that stays too high.
func TestSilentConstant(t *testing.T) {
	p := tiny(true, ir.Xor)
	so := build(t, machine(t, targets.HostName), p)[codegen.SO]
	stripped := bytes.ReplaceAll(so, []byte("ripc_weights\x00"), []byte("ripc_xxxxxxx\x00"))
	if bytes.Equal(so, stripped) {
		t.Fatal("the library has no symbol ripc_weights")
	}
	if r := check(t, stripped, p, 1); !r.OK {
		t.Errorf("without the symbol: %+v", r)
	}
	for _, file := range [][]byte{so, stripped} {
		for _, c := range []struct {
			buffer string
			bit    int
			stages []int
			text   string
		}{
			{"s", 3 * 32, []int{2, 3}, "%s[3]: got nan (0x7fc0004c), want nan (0x7fc0004d); 1 of 10 elements differ"},
			{"t1", 5*32 + 20, []int{0}, "%t1[5]: got 1048776, want 200; 1 of 64 elements differ"},
		} {
			r := check(t, flip(t, file, p, c.buffer, c.bit), p, 1)
			if r.OK || len(r.Network) != 0 || r.Crash != nil {
				t.Errorf("%s: %+v", c.buffer, r)
			}
			for i, s := range r.Stages {
				if !slices.Contains(c.stages, i) {
					if !s.OK {
						t.Errorf("%s: %v", c.buffer, s)
					}
				} else if s.OK || s.Suspect != verify.Constants || len(s.Differences) != 0 || len(s.Constants) != 1 || s.Constants[0].String() != c.text {
					t.Errorf("%s: %v", c.buffer, s)
				}
			}
		}
	}
}

// TestWatch looks at what is said before and after compiled code runs.
func TestWatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tiny.so")
	if err := os.WriteFile(file, build(t, machine(t, targets.HostName), tiny(true, ir.Xor))[codegen.SO], 0o666); err != nil {
		t.Fatal(err)
	}
	var got []string
	_, err := verify.Verify(context.Background(), verify.Input{Program: tiny(false, ir.Xor), SO: file, Inputs: picture(),
		Watch: func(r *verify.Report, at *verify.Running) {
			if at == nil {
				got = append(got, "-")
				return
			}
			if got = append(got, at.What); len(r.Stages) != 4 || at.Stage > 0 && !r.Stages[at.Stage-1].OK {
				t.Errorf("%s: %+v", at.What, r)
			}
		}})
	want := []string{"loading", "-", "stage fire/bits", "-", "stage fire/scores", "-", "stage out/left", "-", "stage out/right", "-", "network", "-"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestConstantsBeyondTheEnd has a Program whose constants are not in the file's block.
func TestConstantsBeyondTheEnd(t *testing.T) {
	so := build(t, machine(t, targets.HostName), tiny(true, ir.Xor))[codegen.SO]
	old, bad := []byte(`"where":"const","offset":0}`), []byte(`"where":"const","offset":9}`)
	file := filepath.Join(t.TempDir(), "tiny.so")
	write := func(data []byte) {
		sealed(t, data)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in := verify.Input{Program: tiny(false, ir.Xor), SO: file, Inputs: picture()}
	write(bytes.Replace(so, old, bad, 1)) // still inside: the bytes there are others
	r, err := verify.Verify(context.Background(), in)
	if err != nil || r.OK || r.Stages[0].Suspect != verify.Constants || r.Stages[0].Constants[0].Buffer != "w1" {
		t.Errorf("%+v, %v", r, err)
	}
	size := bytes.Index(so, []byte(`"weight_bytes":`)) + len(`"weight_bytes":`)
	short := bytes.Clone(so)
	short[size] = '0' + (short[size]-'0')/2
	short[size+1] = '.' // not an integer: refused when it is read
	write(short)
	var fe *runtime.FileError
	if _, err := verify.Verify(context.Background(), in); !errors.As(err, &fe) {
		t.Errorf("damaged description: %v", err)
	}
	short[size], short[size+1] = '1', '0'
	write(short)
	if _, err := verify.Verify(context.Background(), in); !errors.As(err, &fe) {
		t.Errorf("constants too short: %v", err)
	}
}
