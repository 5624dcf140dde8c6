package tensorio

import (
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // pictures as inputs
	_ "image/png"
	"io"
	"math"

	"golang.org/x/image/draw"

	"ripc/internal/files"
	"ripc/ir"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

// maxPixels bounds a picture by the size in its first bytes, which may be far more than the file
// holds. A pixel takes up to 8 bytes.
const maxPixels = 64 << 20

// loadPicture makes a picture file the contents of t. The note describes the scaling, if any.
func loadPicture(t describe.Tensor, file string) (data []byte, note string, err error) {
	bad := func(msg string, err error) error {
		return &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Title()), Msg: msg, Err: err}
	}
	s := t.Shape
	planes := len(s) == 4 && t.Layout == "NCHW" // the channels' planes one after the other
	if planes {
		s = []int{s[0], s[2], s[3], s[1]}
	}
	if t.Packed || len(s) != 4 || s[0] != 1 || (s[3] != 1 && s[3] != 3) || (t.Layout != "NHWC" && !planes) ||
		(t.DType != "f32" && t.DType != "u8") {
		return nil, "", bad(fmt.Sprintf("a picture does not fit %s %s %s; pictures fill f32 or u8 inputs [1, H, W, "+
			"1 or 3], NHWC, or [1, 1 or 3, H, W], NCHW", t.DType, ShapeText(t.Shape), t.Layout), nil)
	}
	f, err := files.Open(file)
	if err != nil {
		return nil, "", bad("cannot open the picture", files.Cause(err))
	}
	defer f.Close()
	config, _, err := image.DecodeConfig(f)
	if err != nil {
		return nil, "", bad("cannot read the picture, which has to be a PNG or a JPEG", err)
	}
	if int64(config.Width)*int64(config.Height) > maxPixels {
		return nil, "", bad(fmt.Sprintf("the picture has %dx%d pixels; at most %d M are read", config.Width,
			config.Height, maxPixels>>20), nil)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, "", bad("cannot read the picture", err)
	}
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, "", bad("cannot read the picture", err)
	}
	// 16 bits a channel, so that only the last step rounds.
	dst := image.NewRGBA64(image.Rect(0, 0, s[2], s[1]))
	draw.Draw(dst, dst.Bounds(), image.Black, image.Point{}, draw.Src)
	if src.Bounds().Size() == dst.Bounds().Size() {
		draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	} else {
		draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Over, nil)
		note = fmt.Sprintf("%s: %s for input %q of %dx%d", file, scaling(src.Bounds().Size(), dst.Bounds().Size()),
			t.Title(), s[2], s[1])
	}
	top := 255.0
	if t.Encoding != "" && t.Bits > 0 {
		top = float64(int(1)<<t.Bits - 1)
	}
	values := make([]float32, s[1]*s[2]*s[3])
	data = make([]byte, s[1]*s[2]*s[3])
	for i := range s[1] * s[2] {
		c := dst.RGBA64At(i%s[2], i/s[2])
		channels := []uint16{c.R, c.G, c.B}
		if s[3] == 1 {
			channels = []uint16{color.Gray16Model.Convert(c).(color.Gray16).Y}
		}
		for k, v := range channels {
			at := i*s[3] + k
			if planes {
				at = k*s[1]*s[2] + i
			}
			if t.DType == "f32" {
				values[at] = float32(float64(v) / math.MaxUint16)
			} else {
				data[at] = uint8(math.Round(float64(v) / math.MaxUint16 * top))
			}
		}
	}
	if t.DType == "f32" {
		return npy.FromFloat32(t.Shape, values).Data, note, nil
	}
	return data, note, nil
}

// scaling describes the scaling of a picture to another size: stretched where the ratio of its
// sides changes.
func scaling(from, to image.Point) string {
	how := "scaled"
	if from.X*to.Y != from.Y*to.X {
		how = "stretched"
	}
	return fmt.Sprintf("%s from %dx%d pixels", how, from.X, from.Y)
}
