package runtime

import (
	"testing"

	"ripc/runtime/describe"
)

// FuzzDescription reads descriptions that anybody may have written: what is accepted has sizes that can be laid out.
func FuzzDescription(f *testing.F) {
	const head = `{"format":"` + describe.Format + `","name":"net","arch":"x86_64",`
	for _, s := range []string{
		head + `"inputs":[{"name":"x","dtype":"f32","shape":[1,8]}],"outputs":[{"name":"y","dtype":"f32","shape":[1,8]}],"arena_bytes":64,"scratch_bytes":0,"weight_bytes":4,` +
			`"stages":[{"name":"s","op":"relu","kernel":"k","macs":1,"reads":[{"name":"x","dtype":"f32","shape":[1,8],"where":"input","offset":0},{"name":"w","dtype":"i16","shape":[2],"where":"const","offset":0}],` +
			`"writes":[{"name":"y","dtype":"f32","shape":[1,8],"where":"output","offset":0}]}]}`,
		head + `"inputs":[{"name":"x","dtype":"f32","shape":[1073741824,1073741824,8]}],"outputs":[{"name":"\u001b[2J","dtype":"u8","shape":[]}]}`,
		head + `"inputs":[{"name":"x","dtype":"u8","shape":[0,-1]}],"outputs":[{}],"arena_bytes":-64,"stages":[{"reads":null,"writes":[{"where":"arena","offset":-9223372036854775808,"dtype":"u64","shape":[9223372036854775807]}]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseDescription("x.so", text)
		if err != nil {
			return
		}
		for _, in := range append(a.Inputs, a.Outputs...) {
			if n, err := TensorBytes(in); err != nil || n < 0 {
				t.Errorf("%+v: %d bytes, %v", in, n, err)
			}
		}
		for _, s := range a.Stages {
			for _, o := range append(s.Reads, s.Writes...) {
				if n, err := shapeBytes(o, operandSize(o.DType)); err != nil || o.Where == "arena" && o.Offset+int64(n) > a.ArenaBytes {
					t.Errorf("%+v: %d bytes, %v", o, n, err)
				}
			}
		}
	})
}
