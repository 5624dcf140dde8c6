package flatbuf_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ripc/importer/lce/internal/flatbuf"
	"ripc/internal/tflitetest"
)

// TestFields reads every kind of field, there and absent.
func TestFields(t *testing.T) {
	data := tflitetest.File(tflitetest.Table{
		0: int8(-3), 1: true, 2: int32(-70000), 3: float32(0.5), 4: uint64(1) << 40, 5: "name", 6: []byte{1, 2, 3},
		7: []int32{5, -6}, 8: []int64{-1 << 40}, 9: []float32{2, 4}, 10: tflitetest.Table{0: int32(7)},
		11: []tflitetest.Table{{0: int32(8)}, {}},
	})
	r := flatbuf.NewReader(data)
	x := r.Root("TFL3")
	if !x.Has() || x.Int8(0, 9) != -3 || !x.Bool(1) || x.Int32(2, 9) != -70000 || x.Float32(3, 9) != 0.5 || x.Uint64(4) != 1<<40 {
		t.Error("scalars differ")
	}
	if x.String(5) != "name" || !slices.Equal(x.Bytes(6), []byte{1, 2, 3}) || !slices.Equal(x.Int32s(7), []int{5, -6}) ||
		!slices.Equal(x.Int64s(8), []int64{-1 << 40}) || !slices.Equal(x.Float32s(9), []float32{2, 4}) {
		t.Error("vectors differ")
	}
	list := x.Tables(11)
	if x.Table(10).Int32(0, 9) != 7 || len(list) != 2 || list[0].Int32(0, 9) != 8 || list[1].Int32(0, 9) != 9 {
		t.Error("tables differ")
	}
	if x.Int8(12, 9) != 9 || x.Int32(13, 9) != 9 || x.Float32(14, 9) != 9 || x.Bool(15) || x.Uint64(16) != 0 || x.String(17) != "" ||
		x.Bytes(18) != nil || x.Int32s(19) != nil || x.Table(20).Has() || x.Tables(21) != nil {
		t.Error("absent fields differ")
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// TestFaults damages one place at a time.
func TestFaults(t *testing.T) {
	good := tflitetest.File(tflitetest.Table{0: []int32{1, 2}})
	table := int(good[0])
	read := func(data []byte) error {
		r := flatbuf.NewReader(data)
		if got := r.Root("TFL3").Int32s(0); r.Err() != nil && got != nil {
			t.Error("elements after a fault")
		}
		return r.Err()
	}
	if err := read(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   int
		b    byte
		want string
	}{
		{4, 'X', "identifier"},
		{0, 0, "does not lead into the file"},
		{1, 255, "does not lead into the file"},
		{table, 0, "the table's vtable has"},
		{table + 1, 0x7f, "vtable does not lie in the file"},
		{table + 3, 0x80, "vtable does not lie in the file"},
		{table + 4, 200, "does not lead into the file"},
		{table + 7, 200, "does not lead into the file"},
		{table + 8, 3, "a vector of 3 elements"},
		{table + 11, 255, "a vector of"},
	} {
		data := slices.Clone(good)
		data[c.at] = c.b
		err := read(data)
		var fault *flatbuf.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d = %d: %v, want %q", c.at, c.b, err, c.want)
		}
	}
}

// TestOverlap: a small file in which thousands of tables are the same one is refused.
func TestOverlap(t *testing.T) {
	one := tflitetest.Table{0: []int32{1, 2, 3, 4}}
	data := tflitetest.File(tflitetest.Table{0: slices.Repeat([]tflitetest.Table{one}, 1000)})
	r := flatbuf.NewReader(data)
	list := r.Root("TFL3").Tables(0)
	for range 1000 {
		for _, x := range list {
			x.Int32s(0)
		}
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("reading a file again and again: %v", err)
	}
}

// TestFlex reads maps of numbers of every width.
func TestFlex(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8} {
		want := map[string]int{"channels_in": 96, "padding": 0, "negative": -5, "z": 127}
		m, err := flatbuf.ParseMap(tflitetest.Flex(want, width))
		if err != nil {
			t.Errorf("width %d: %v", width, err)
		}
		for k, v := range want {
			if got, ok := m.Int(k); !ok || got != int64(v) {
				t.Errorf("width %d: %s is %d, want %d", width, k, got, v)
			}
		}
		if _, ok := m.Int("other"); ok {
			t.Error("a key that is not there is found")
		}
	}
}

// TestFlexKinds reads the other kinds of values.
func TestFlexKinds(t *testing.T) {
	data := []byte("b\x00d\x00i\x00n\x00s\x00u\x00v\x00" + // keys at 0, 2 ... 12
		"\x02hi\x00" + // string at 15
		"\x00\x00" + // padding
		"\x39\x30\x00\x00" + // at 20: 12345, 4 bytes
		"\x00\x00\x00\x3f") // at 24: 0.5
	put := func(b ...byte) { data = append(data, b...) }
	put(7)
	keys := len(data)
	for i := range 7 {
		put(byte(len(data) - 2*i))
	}
	put(byte(len(data)-keys), 1, 7)
	values := len(data)
	put(1)                     // b: true
	put(byte(len(data) - 24))  // d: indirect float
	put(byte(len(data) - 20))  // i: indirect int
	put(0)                     // n: null
	put(byte(len(data) - 15))  // s
	put(200)                   // u: unsigned
	put(byte(len(data) - 100)) // v: a vector, which is not read
	put(26<<2, 8<<2|2, 6<<2|2, 0, 5<<2, 2<<2, 10<<2)
	put(byte(len(data)-values), 9<<2, 1)
	m, err := flatbuf.ParseMap(data)
	if err != nil {
		t.Fatal(err)
	}
	want := flatbuf.Map{"b": true, "d": 0.5, "i": int64(12345), "n": nil, "s": "hi", "u": int64(200), "v": nil}
	for k, v := range want {
		if m[k] != v {
			t.Errorf("%s is %v, want %v", k, m[k], v)
		}
	}
	if n, ok := m.Int("b"); !ok || n != 1 {
		t.Error("true does not count as 1")
	}
}

// TestFlexFaults: whatever is cut off or changed gives a map or an error.
func TestFlexFaults(t *testing.T) {
	good := tflitetest.Flex(map[string]int{"channels_in": 96, "padding": 1}, 2)
	for i := range good {
		if _, err := flatbuf.ParseMap(good[i+1:]); err == nil && i+1 > len("channels_in") {
			t.Errorf("without the first %d bytes there is no error", i+1)
		}
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			data := slices.Clone(good)
			data[i] = b
			_, _ = flatbuf.ParseMap(data)
		}
	}
	for want, data := range map[string][]byte{
		"want 3 or more":      {0, 1},
		"want a map":          {0, 4, 1},
		"numbers of 3 bytes":  append(slices.Clone(good[:len(good)-1]), 3),
		"do not lie":          {9 << 2, 9 << 2, 8},
		"does not lead":       {0, 9 << 2, 1},
		"do not lie in the o": {0, 1, 9 << 2, 1},
	} {
		if _, err := flatbuf.ParseMap(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", data, err, want)
		}
	}
}

// FuzzParseMap: whatever the bytes, there is a map or an error.
func FuzzParseMap(f *testing.F) {
	for _, width := range []int{1, 2, 4, 8} {
		f.Add(tflitetest.Flex(map[string]int{"channels_in": 96, "padding": 1}, width))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := flatbuf.ParseMap(data)
		if (m == nil) == (err == nil) {
			t.Errorf("map %v and error %v", m, err)
		}
	})
}
