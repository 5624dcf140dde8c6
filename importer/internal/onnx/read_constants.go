package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/f32"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/internal/stop"
)

// constant reads a TensorProto in any of its encodings.
func (b *builder) constant(t *pb.TensorProto) *array {
	dt := dtype(t.GetDataType())
	halves := dt != dt.eightBitType()
	if dt.size() == 0 && !halves {
		panic(fmt.Errorf("element type %s is not supported", dt))
	}
	if t.GetSegment() != nil {
		panic(fmt.Errorf("is stored in segments, which no writer of ONNX uses"))
	}
	shape := make([]int, len(t.GetDims()))
	for d, v := range t.GetDims() {
		if v < 0 || v > maxElements {
			panic(fmt.Errorf("shape %v is impossible", t.GetDims()))
		}
		shape[d] = int(v)
	}
	n := stop.Must(elements(shape))
	if halves {
		return b.halfBytes(t, dt, shape, n)
	}
	raw, isRaw := t.GetRawData(), t.RawData != nil
	if t.GetDataLocation() == pb.TensorProto_EXTERNAL {
		raw = b.external(t, n*dt.size())
		isRaw = true
	}
	held, set := typedField(t, dt)
	switch {
	case !isRaw && held != n:
		panic(fmt.Errorf("shape %v has %s, the file holds %d", shape, human.Count(n, "element"), held))
	case isRaw && len(raw) != n*dt.size():
		panic(fmt.Errorf("%s%v has %s, the file holds %d", dt, shape, human.Count(n*dt.size(), "byte"), len(raw)))
	}
	switch { // most weights: in the file's own memory
	case isRaw && dt == dtFloat:
		b.mem.take(n, dt.size())
		return &array{dt: dt, shape: shape, f: f32.FromBytes(raw)}
	case isRaw && dt.eightBits():
		b.mem.take(n, dt.size())
		return &array{dt: dt, shape: shape, bytes: raw}
	}
	a := b.mem.newArray(dt, shape)
	if isRaw {
		readRaw(a, raw)
		return a
	}
	for k := range n {
		set(a, k)
	}
	return a
}

// halfBytes reads n integers of 4 bits. A byte holds two, the first one in its low half. A number
// of int32_data holds one byte.
func (b *builder) halfBytes(t *pb.TensorProto, dt dtype, shape []int, n int) *array {
	raw, size := t.GetRawData(), (n+1)/2
	if t.GetDataLocation() == pb.TensorProto_EXTERNAL {
		raw = b.external(t, size)
	} else if t.RawData == nil {
		raw = make([]byte, len(t.Int32Data))
		for k, v := range t.Int32Data {
			raw[k] = byte(v)
		}
	}
	if len(raw) != size {
		panic(fmt.Errorf("%s%v has %s, the file holds %d", dt, shape, human.Count(size, "byte"), len(raw)))
	}
	a := b.mem.newArray(dt.eightBitType(), shape)
	a.fourBits = true
	for k := range n {
		v := raw[k/2] >> (k % 2 * 4) & 15
		if a.bytes[k] = v; dt == dtInt4 {
			a.bytes[k] = byte(int8(v<<4) >> 4)
		}
	}
	return a
}

// readRaw fills a, which is not f32, from little-endian bytes.
func readRaw(a *array, raw []byte) {
	size := a.dt.size()
	for k := range a.len() {
		var word [8]byte
		copy(word[:], raw[k*size:][:size])
		a.setBits(k, binary.LittleEndian.Uint64(word[:]))
	}
}

// setBits sets element k to the number that has these bits in a's type.
func (a *array) setBits(k int, bits uint64) {
	switch a.dt {
	case dtFloat16:
		a.f[k] = f32.Half(uint16(bits))
	case dtBfloat16:
		a.f[k] = math.Float32frombits(uint32(bits) << 16)
	case dtDouble:
		a.d[k] = math.Float64frombits(bits)
	default:
		a.setInteger(k, int64(bits))
	}
}

// typedField finds the field of t that holds the elements of type dt when they are not raw: their
// number, and a function that sets element k of an array to its element k. 16-bit floats are the
// bits of int32_data.
func typedField(t *pb.TensorProto, dt dtype) (count int, set func(a *array, k int)) {
	switch dt {
	case dtFloat:
		return len(t.FloatData), func(a *array, k int) { a.f[k] = t.FloatData[k] }
	case dtDouble:
		return len(t.DoubleData), func(a *array, k int) { a.d[k] = t.DoubleData[k] }
	case dtInt64:
		return len(t.Int64Data), func(a *array, k int) { a.i[k] = t.Int64Data[k] }
	case dtUint64, dtUint32:
		return len(t.Uint64Data), func(a *array, k int) { a.setInteger(k, int64(t.Uint64Data[k])) }
	}
	return len(t.Int32Data), func(a *array, k int) { a.setBits(k, uint64(t.Int32Data[k])) }
}

// absentError says that the file with the data of a tensor is not there.
type absentError struct {
	location string
	err      error
}

func (e *absentError) Error() string { return fmt.Sprintf("external data %q: %v", e.location, e.err) }

func (e *absentError) Unwrap() error { return e.err }

// external reads the bytes of a tensor that lies in a file beside the model.
func (b *builder) external(t *pb.TensorProto, want int) []byte {
	var location string
	offset, length := int64(0), int64(want)
	for _, e := range t.GetExternalData() {
		var err error
		switch e.GetKey() {
		case "location":
			location = e.GetValue()
		case "offset":
			offset, err = strconv.ParseInt(e.GetValue(), 10, 64)
		case "length":
			length, err = strconv.ParseInt(e.GetValue(), 10, 64)
		}
		if err != nil {
			panic(fmt.Errorf("external data: %s %q is no number", e.GetKey(), e.GetValue()))
		}
	}
	switch {
	case location == "":
		panic(errors.New("external data without a location"))
	case offset < 0 || length < 0:
		panic(fmt.Errorf("external data: offset %d and length %d: want numbers from 0", offset, length))
	case length != int64(want):
		panic(fmt.Errorf("external data has length %d, the tensor needs %s", length, human.Count(want, "byte")))
	}
	b.mem.take(want, 1)
	raw, err := b.open(location, offset, length)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrLFS):
		panic(&absentError{location, files.Cause(err)})
	case err != nil:
		panic(fmt.Errorf("external data %q: %w", location, files.Cause(err)))
	case int64(len(raw)) != length:
		panic(fmt.Errorf("external data %q: got %d of %d bytes", location, len(raw), length))
	}
	return raw
}
