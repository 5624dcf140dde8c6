package runtime

import (
	"encoding/binary"
	"math"

	"ripc/runtime/describe"
)

// FillRandom returns deterministic contents for t: little endian, C order, TensorBytes(t) bytes.
// They depend on seed, the tensor's index among the inputs, dtype, shape and encoding alone, so
// that every program, engine and machine sees the same numbers.
//
//	mix(z)       = finalizer of splitmix64;
//	absorb(h, x) = mix((h xor x) + 0x9e3779b97f4a7c15);
//	h            = absorb of seed, index, the bytes of dtype as one little-endian number, rank,
//	               each extent; from h = 0;
//	element k    = made of the 64-bit draw z = mix(h + (k+1)*0x9e3779b97f4a7c15).
//
// f32 are uniform in [0, 1): (z >> 40) / 2^24. Unencoded u8 and i8 take any value: z >> 56; i16 do,
// too: z >> 48. Encoded u8 that are not packed are levels 0 .. 2^Bits-1: z >> (64-Bits). i32 lie in
// -128 .. 127 and u32 in 0 .. 255, also from z >> 56. Packed tensors, of any integer type, take the
// top bits of z as words. Bits at and beyond Channels are zero. The last axis of their shape counts
// the words of one pixel, least significant bit first.
//
// It fails if t's dtype or shape is unusable.
func FillRandom(t describe.Tensor, seed uint64, index int) ([]byte, error) {
	n, err := TensorBytes(t)
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	s := stream(t, seed, index)
	switch {
	case t.Packed && t.DType != "f32":
		fillPacked(out, t, &s)
	case t.DType == "f32":
		for i := 0; i < n; i += 4 {
			binary.LittleEndian.PutUint32(out[i:], math.Float32bits(float32(s.next()>>40)/(1<<24)))
		}
	case t.DType == "i32":
		for i := 0; i < n; i += 4 {
			binary.LittleEndian.PutUint32(out[i:], uint32(int32(int8(s.next()>>56))))
		}
	case t.DType == "u32":
		for i := 0; i < n; i += 4 {
			binary.LittleEndian.PutUint32(out[i:], uint32(s.next()>>56))
		}
	case t.DType == "i16":
		for i := 0; i < n; i += 2 {
			binary.LittleEndian.PutUint16(out[i:], uint16(s.next()>>48))
		}
	default: // u8, i8
		shift := 56
		if t.DType == "u8" && t.Encoding != "" {
			shift = 64 - min(max(t.Bits, 1), 8)
		}
		for i := range out {
			out[i] = byte(s.next() >> shift)
		}
	}
	return out, nil
}

// fillPacked writes words of random bits with zero padding.
func fillPacked(out []byte, t describe.Tensor, s *splitmix) {
	size := int(elementSize(t.DType))
	bits := 8 * size
	words := 1
	if len(t.Shape) > 0 {
		words = max(t.Shape[len(t.Shape)-1], 1)
	}
	for i := range len(out) / size {
		z := s.next() >> (64 - bits)
		if t.Channels > 0 {
			valid := min(max(t.Channels-bits*(i%words), 0), bits)
			z &= 1<<valid - 1
		}
		switch size {
		case 1:
			out[i] = byte(z)
		case 2:
			binary.LittleEndian.PutUint16(out[2*i:], uint16(z))
		default:
			binary.LittleEndian.PutUint32(out[4*i:], uint32(z))
		}
	}
}

// splitmix is Steele, Lea and Flood's generator: state moves by the golden ratio, outputs are
// mixed.
type splitmix uint64

const golden = 0x9e3779b97f4a7c15

// next returns the next 64 bits.
func (s *splitmix) next() uint64 {
	*s += golden
	return mix(uint64(*s))
}

// mix is the generator's finalizer, a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// stream returns the generator for one tensor.
func stream(t describe.Tensor, seed uint64, index int) splitmix {
	h := uint64(0)
	absorb := func(x uint64) { h = mix((h ^ x) + golden) }
	var name [8]byte
	copy(name[:], t.DType)
	absorb(seed)
	absorb(uint64(index))
	absorb(binary.LittleEndian.Uint64(name[:]))
	absorb(uint64(len(t.Shape)))
	for _, d := range t.Shape {
		absorb(uint64(d))
	}
	return splitmix(h)
}
