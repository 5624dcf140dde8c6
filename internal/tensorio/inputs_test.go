package tensorio_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/tensorio"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

func writePNG(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.png")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A picture of the input's size becomes its values exactly.
func TestPictureValues(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		img.SetNRGBA(i%16, i/16, color.NRGBA{R: uint8(i), G: uint8(255 - i), B: uint8(i / 2), A: 255})
	}
	path := writePNG(t, img)
	rgb := func(i int) [3]uint8 { return [3]uint8{uint8(i), uint8(255 - i), uint8(i / 2)} }
	x := describe.Tensor{Name: "x", DType: "f32", Shape: []int{1, 16, 16, 3}, Layout: "NHWC"}
	feed, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0))
	if err != nil {
		t.Fatal(err)
	}
	data := feed.Run(0)[0]
	for i := range 256 {
		for c, v := range rgb(i) {
			got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*(3*i+c):]))
			if want := float32(v) / 255; got != want {
				t.Fatalf("pixel %d channel %d: got %v, want %v", i, c, got, want)
			}
		}
	}
	x.DType, x.Encoding, x.Bits = "u8", "unipolar", 2
	if feed, err = tensorio.Load([]describe.Tensor{x}, []string{"x=" + path}, tensorio.Seeded(0)); err != nil {
		t.Fatal(err)
	}
	for i := range 256 {
		for c, v := range rgb(i) {
			if got, want := feed.Run(0)[0][3*i+c], uint8(math.Round(float64(v)/255*3)); got != want {
				t.Fatalf("level of pixel %d channel %d: got %d, want %d", i, c, got, want)
			}
		}
	}
}

// An input with the channels first, as ONNX has them, gets plane after plane.
func TestPicturePlanes(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	for i := range 15 {
		img.SetNRGBA(i%5, i/5, color.NRGBA{R: uint8(i), G: uint8(100 + i), B: uint8(200 + i), A: 255})
	}
	path := writePNG(t, img)
	x := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 3, 3, 5}, Layout: "NCHW"}
	feed, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range feed.Run(0)[0] {
		if want := uint8(i/15*100 + i%15); got != want {
			t.Fatalf("value %d is %d, want %d", i, got, want)
		}
	}
}

// Scaling keeps a plain colour plain, and a gray input takes a gray picture's values.
func TestPictureScaled(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 37, 11))
	for i := range img.Pix {
		img.Pix[i] = 51
	}
	x := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 8, 24, 1}, Layout: "NHWC"}
	feed, err := tensorio.Load([]describe.Tensor{x}, []string{writePNG(t, img)}, tensorio.Seeded(0))
	if err != nil {
		t.Fatal(err)
	}
	if got := feed.Run(0)[0]; !bytes.Equal(got, bytes.Repeat([]byte{51}, 8*24)) {
		t.Errorf("got %v", got)
	}
}

func TestPictureRefused(t *testing.T) {
	path := writePNG(t, image.NewGray(image.Rect(0, 0, 4, 4)))
	for _, x := range []describe.Tensor{
		{Name: "x", DType: "i32", Shape: []int{1, 4, 4, 1}, Layout: "NHWC"},
		{Name: "x", DType: "f32", Shape: []int{1, 4, 4, 2}, Layout: "NHWC"},
		{Name: "x", DType: "f32", Shape: []int{2, 4, 4, 1}, Layout: "NHWC"},
		{Name: "x", DType: "f32", Shape: []int{1, 4, 4, 1}, Layout: "NCHW"},
		{Name: "x", DType: "f32", Shape: []int{16}},
		{Name: "x", DType: "u32", Shape: []int{1, 1, 4, 4}, Layout: "NHWC", Packed: true},
	} {
		if _, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0)); err == nil || !ripc.IsBadInput(err) {
			t.Errorf("%s %v: %v", x.DType, x.Shape, err)
		}
	}
}

// Bit planes lie before the batch: those of each run are picked from between the others'.
func TestPackedRuns(t *testing.T) {
	x := describe.Tensor{Name: "x", DType: "u32", Shape: []int{2, 1, 3}, Encoding: "unipolar", Bits: 2, Channels: 96, Packed: true}
	var data []byte
	for i := range uint32(2 * 4 * 3) {
		data = binary.LittleEndian.AppendUint32(data, i)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := (&npy.Array{DType: "u32", Shape: []int{2, 4, 3}, Data: data}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	feed, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0))
	if err != nil {
		t.Fatal(err)
	}
	if feed.Runs != 4 {
		t.Fatalf("%d runs", feed.Runs)
	}
	var got []uint32
	for b := feed.Run(2)[0]; len(b) > 0; b = b[4:] {
		got = append(got, binary.LittleEndian.Uint32(b))
	}
	if want := []uint32{6, 7, 8, 18, 19, 20}; !slices.Equal(got, want) {
		t.Errorf("run 2 is %v, want %v", got, want)
	}
}

// int32 words have no axis of planes: runs are stacked along the batch.
func TestWordRuns(t *testing.T) {
	x := describe.Tensor{Name: "x", DType: "i32", Shape: []int{1, 3}, Encoding: "bipolar_inv", Bits: 1, Channels: 96, Packed: true}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := (&npy.Array{DType: "i32", Shape: []int{2, 3}, Data: make([]byte, 24)}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	feed, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0))
	if err != nil || feed.Runs != 2 || len(feed.Run(1)[0]) != 12 {
		t.Fatalf("%+v, %v", feed, err)
	}
}

func TestInputRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, a *npy.Array) string {
		path := filepath.Join(dir, name)
		if err := a.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	levels := write("levels.npy", &npy.Array{DType: "u8", Shape: []int{1, 2}, Data: []byte{1, 4}})
	two := write("two.npy", &npy.Array{DType: "u8", Shape: []int{2, 2}, Data: make([]byte, 4)})
	three := write("three.npy", &npy.Array{DType: "u8", Shape: []int{3, 2}, Data: make([]byte, 6)})
	none := write("none.npy", &npy.Array{DType: "u8", Shape: []int{0, 2}})
	x := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 2}, Encoding: "unipolar", Bits: 2}
	y := x
	y.Name = "y"
	rows := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 2, 2, 3}, Layout: "NHWC"}
	planes := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 3, 2, 2}, Layout: "NCHW"}
	for _, c := range []struct {
		input describe.Tensor
		given []int
		want  string // "" if no order of axes is named
	}{
		{rows, planes.Shape, "(numpy: a.transpose(0, 2, 3, 1))"},
		{rows, []int{2, 3, 2, 2}, "(numpy: a.transpose(0, 2, 3, 1))"},
		{planes, rows.Shape, "(numpy: a.transpose(0, 3, 1, 2))"},
		{rows, []int{1, 2, 3, 3}, ""},
		{rows, []int{3, 2, 2}, ""},
	} {
		size := 1
		for _, n := range c.given {
			size *= n
		}
		file := write("image.npy", &npy.Array{DType: "u8", Shape: c.given, Data: make([]byte, size)})
		_, err := tensorio.Load([]describe.Tensor{c.input}, []string{file}, tensorio.Seeded(0))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.want == "" && strings.Contains(err.Error(), "transpose") {
			t.Errorf("%v for %v: %v\nwant %q", c.given, c.input.Shape, err, c.want)
		}
	}
	for _, c := range []struct {
		specs []string
		want  string
	}{
		{[]string{levels}, "levels of 2 bits are 0 to 3"},
		{[]string{two, three}, "holds 3 times"},
		{[]string{none}, "or K times that along axis 0"},
		{[]string{"z=" + two}, `no input is called "z"`},
		{[]string{"z=" + two}, "the network has x (u8 [1, 2]), y (u8 [1, 2])"},
		{[]string{"nofile.npy"}, "no such file"},
		{[]string{"z=two.txt"}, `no input is called "z"`},
		{[]string{two, two, two}, "no input is left"},
		{[]string{"y=" + two, "y=" + two}, "no input is left"},
	} {
		_, err := tensorio.Load([]describe.Tensor{x, y}, c.specs, tensorio.Seeded(0))
		if err == nil || !strings.Contains(err.Error(), c.want) || !ripc.IsBadInput(err) {
			t.Errorf("%v: %v\nwant %q", c.specs, err, c.want)
		}
	}
	// One file for both runs of another is fine, in any order.
	one := write("one.npy", &npy.Array{DType: "u8", Shape: []int{2}, Data: []byte{3, 1}})
	feed, err := tensorio.Load([]describe.Tensor{x, y}, []string{"y=" + two, one}, tensorio.Seeded(0))
	if err != nil || feed.Runs != 2 || !bytes.Equal(feed.Run(1)[0], []byte{3, 1}) {
		t.Errorf("%v, %v", feed, err)
	}
}

// A picture of a few bytes may claim to have any size; its size is looked at before it is taken apart.
func TestPictureBomb(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	const header = 8 + 8 // signature, length and kind of the first chunk
	binary.BigEndian.PutUint32(data[header:], 60000)
	binary.BigEndian.PutUint32(data[header+4:], 60000)
	binary.BigEndian.PutUint32(data[header+13:], crc32.ChecksumIEEE(data[header-4:header+13]))
	path := filepath.Join(t.TempDir(), "p.png")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	x := describe.Tensor{Name: "x", DType: "f32", Shape: []int{1, 4, 4, 1}, Layout: "NHWC"}
	_, err := tensorio.Load([]describe.Tensor{x}, []string{path}, tensorio.Seeded(0))
	if err == nil || !ripc.IsBadInput(err) || !strings.Contains(err.Error(), "the picture has 60000x60000 pixels; at most 64 M are read") {
		t.Error(err)
	}
}
