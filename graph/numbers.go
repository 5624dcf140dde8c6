package graph

import (
	"iter"
	"math"
	"slices"
)

// Numbers are the elements of a constant, in row-major order. They keep the type of their file, so
// that weights of few bits stay as small in memory. Nobody writes to them. The zero value has no
// elements. Elements are read as f32, which is inexact for some of i32 and f64: Exact reads these.
type Numbers struct{ stored store }

// store is one way to hold numbers.
type store interface {
	length() int
	element(i int) float32
	// read fills to with the elements from i on.
	read(i int, to []float32)
	// readEvery fills to with the elements i, i+step, i+2*step and so on.
	readEvery(i, step int, to []float32)
	copyTransposed(rows, columns int) store
}

// NumbersOf holds v, which is not written to any more.
func NumbersOf[T number](v []T) Numbers { return Numbers{typed[T](v)} }

// IntNumbers holds count integers of at most 16 bits and a sign, which at gives. It stores them as
// signs or bytes where these suffice.
func IntNumbers(count int, at func(i int) int) Numbers {
	return storeInts(count, func(yield func(int, int) bool) {
		for i := range count {
			if !yield(i, at(i)) {
				return
			}
		}
	})
}

// storeInts is Whole for numbers that come in order, twice.
func storeInts(count int, all iter.Seq2[int, int]) Numbers {
	least, most, odd := math.MaxInt, math.MinInt, true
	for _, v := range all {
		least, most, odd = min(least, v), max(most, v), odd && v&1 == 1
	}
	switch {
	case least >= -1 && most <= 1 && odd:
		words := make([]uint64, SignWords(count))
		for i, v := range all {
			if v < 0 {
				words[i/signBits] |= 1 << (i % signBits)
			}
		}
		return Signs(words, count)
	case least >= math.MinInt8 && most <= math.MaxInt8:
		return storeAs[int8](count, all)
	case least >= 0 && most <= math.MaxUint8:
		return storeAs[uint8](count, all)
	}
	return storeAs[int16](count, all)
}

// storeAs is storeInts of numbers that T has.
func storeAs[T int8 | uint8 | int16](count int, all iter.Seq2[int, int]) Numbers {
	out := make([]T, count)
	for i, v := range all {
		out[i] = T(v)
	}
	return NumbersOf(out)
}

// Map holds the whole numbers that f makes of n's, as Whole does.
func (n Numbers) Map(f func(i int, v float32) int) Numbers {
	return storeInts(n.Len(), func(yield func(int, int) bool) {
		for i, v := range n.All() {
			if !yield(i, f(i, v)) {
				return
			}
		}
	})
}

// Sign holds 1 for each number of n from 0 on, and -1 for each other one.
func (n Numbers) Sign() Numbers {
	if s, ok := n.stored.(*signs); ok {
		return Numbers{s}
	}
	words := make([]uint64, SignWords(n.Len()))
	for i, v := range n.All() {
		if !(v >= 0) {
			words[i/signBits] |= 1 << (i % signBits)
		}
	}
	return Signs(words, n.Len())
}

// Signs holds count numbers of 1 bit each: 1 where the bit is 0, -1 where it is 1. A word's least
// significant bit comes first.
func Signs(words []uint64, count int) Numbers { return Numbers{&signs{words, count}} }

// Dequantized holds (v - zero) * scale of integers v. Element i has number i/run%len(scale) of
// scale and zero. Without zero nothing is subtracted.
func Dequantized(v Numbers, scale, zero []float32, run int) Numbers {
	return Numbers{&dequantized{v.stored, scale, zero, run}}
}

// Computer makes numbers when they are read, in any order and for several goroutines.
type Computer interface{ At(i int) float32 }

// ComputedNumbers holds count numbers of c, and takes no memory.
func ComputedNumbers(count int, c Computer) Numbers { return Numbers{&computed{count, c}} }

// SignWords is the number of words that Signs has for count numbers.
func SignWords(count int) int { return (count + signBits - 1) / signBits }

// Len is the number of elements.
func (n Numbers) Len() int {
	if n.stored == nil {
		return 0
	}
	return n.stored.length()
}

// At is element i. Who reads many takes All or Read, which are faster.
func (n Numbers) At(i int) float32 { return n.stored.element(i) }

// Exact is element i as it is stored.
func (n Numbers) Exact(i int) float64 {
	if v, ok := StoredList[int32](n); ok {
		return float64(v[i])
	}
	if v, ok := StoredList[float64](n); ok {
		return v[i]
	}
	return float64(n.At(i))
}

// isWide reports whether f32 may not have elements of n.
func (n Numbers) isWide() bool {
	switch n.stored.(type) {
	case typed[int32], typed[float64]:
		return true
	}
	return false
}

// StoredList returns the elements of n, if they are stored as a list of T.
func StoredList[T number](n Numbers) ([]T, bool) {
	list, ok := n.stored.(typed[T])
	return list, ok
}

// Read fills to with the elements from i on.
func (n Numbers) Read(i int, to []float32) {
	if len(to) > 0 {
		n.stored.read(i, to)
	}
}

// column fills to with column o of a matrix with the given number of columns.
func (n Numbers) column(o, columns int, to []float32) {
	if len(to) > 0 {
		n.stored.readEvery(o, columns, to)
	}
}

// piece is the number of elements that All has as f32 at a time.
const piece = 512

// All goes through the elements in order.
func (n Numbers) All() iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		if v, ok := n.stored.(typed[float32]); ok {
			for i, x := range v {
				if !yield(i, x) {
					return
				}
			}
			return
		}
		var buf [piece]float32
		for i := 0; i < n.Len(); i += piece {
			part := buf[:min(piece, n.Len()-i)]
			n.stored.read(i, part)
			for k, x := range part {
				if !yield(i+k, x) {
					return
				}
			}
		}
	}
}

// Floats are all elements as f32: those that are held, or a copy where they are held otherwise,
// which takes 4 bytes each.
func (n Numbers) Floats() []float32 {
	if v, ok := n.stored.(typed[float32]); ok {
		return v
	}
	if n.Len() == 0 {
		return nil
	}
	out := make([]float32, n.Len())
	n.stored.read(0, out)
	return out
}

// Transposed is a copy of numbers [rows, columns] as [columns, rows].
func (n Numbers) Transposed(rows, columns int) Numbers {
	if n.stored == nil {
		return n
	}
	return Numbers{n.stored.copyTransposed(rows, columns)}
}

// transposeBlock is the number of rows, and of columns, of a block that is transposed at a time, so
// that it stays in a cache.
const transposeBlock = 64

// transpose calls move for each element of rows x columns, with its place before and after.
func transpose(rows, columns int, move func(from, to int)) {
	for r := 0; r < rows; r += transposeBlock {
		for c := 0; c < columns; c += transposeBlock {
			for x := c; x < min(c+transposeBlock, columns); x++ {
				for y := r; y < min(r+transposeBlock, rows); y++ {
					move(y*columns+x, x*rows+y)
				}
			}
		}
	}
}

// typed are numbers in a slice.
type typed[T number] []T

// number is an element type of constants.
type number interface {
	float32 | int8 | uint8 | int16 | int32 | float64
}

func (v typed[T]) length() int           { return len(v) }
func (v typed[T]) element(i int) float32 { return float32(v[i]) }

func (v typed[T]) read(i int, to []float32) {
	for k, x := range v[i : i+len(to)] {
		to[k] = float32(x)
	}
}

func (v typed[T]) readEvery(i, step int, to []float32) {
	for k := range to {
		to[k] = float32(v[i+k*step])
	}
}

func (v typed[T]) copyTransposed(rows, columns int) store {
	out := make(typed[T], len(v))
	transpose(rows, columns, func(from, to int) { out[to] = v[from] })
	return out
}

// signBits is the number of bits of a word of signs.
const signBits = 64

// signs are the numbers of Signs.
type signs struct {
	words []uint64
	count int
}

func (s *signs) length() int { return s.count }

func (s *signs) element(i int) float32 { return sign(s.words[i/signBits] >> (i % signBits)) }

func (s *signs) read(i int, to []float32) {
	for k := 0; k < len(to); {
		word := s.words[(i+k)/signBits] >> ((i + k) % signBits)
		for range min(signBits-(i+k)%signBits, len(to)-k) {
			to[k] = sign(word)
			word >>= 1
			k++
		}
	}
}

func (s *signs) readEvery(i, step int, to []float32) {
	for k := range to {
		to[k] = s.element(i + k*step)
	}
}

func (s *signs) copyTransposed(rows, columns int) store {
	out := &signs{make([]uint64, len(s.words)), s.count}
	transpose(rows, columns, func(from, to int) {
		out.words[to/signBits] |= s.words[from/signBits] >> (from % signBits) & 1 << (to % signBits)
	})
	return out
}

// dequantized are the numbers of Dequantized.
type dequantized struct {
	ints        store
	scale, zero []float32
	run         int
}

func (d *dequantized) length() int { return d.ints.length() }

func (d *dequantized) element(i int) float32 {
	var to [1]float32
	d.read(i, to[:])
	return to[0]
}

func (d *dequantized) read(i int, to []float32) {
	d.ints.read(i, to)
	c, left := i/d.run%len(d.scale), d.run-i%d.run // elements that have this scale, too
	for k := range to {
		if left == 0 {
			c, left = (c+1)%len(d.scale), d.run
		}
		if left--; len(d.zero) > 0 {
			to[k] -= d.zero[c]
		}
		to[k] *= d.scale[c]
	}
}

func (d *dequantized) readEvery(i, step int, to []float32) {
	d.ints.readEvery(i, step, to)
	for k := range to {
		c := (i + k*step) / d.run % len(d.scale)
		if len(d.zero) > 0 {
			to[k] -= d.zero[c]
		}
		to[k] *= d.scale[c]
	}
}

func (d *dequantized) copyTransposed(rows, columns int) store {
	out := *d
	switch n := len(d.scale); {
	case n == 1:
	case d.run == 1 && n == columns:
		out.run = rows
	case d.run == columns && n == rows:
		out.run = 1
	default:
		return typed[float32](Numbers{d}.Floats()).copyTransposed(rows, columns)
	}
	out.ints = d.ints.copyTransposed(rows, columns)
	return &out
}

// computed are the numbers of Computed.
type computed struct {
	count int
	Computer
}

func (c *computed) length() int { return c.count }

func (c *computed) element(i int) float32 { return c.At(i) }

func (c *computed) read(i int, to []float32) { c.readEvery(i, 1, to) }

func (c *computed) readEvery(i, step int, to []float32) {
	for k := range to {
		to[k] = c.At(i + k*step)
	}
}

func (c *computed) copyTransposed(rows, columns int) store {
	return &computed{c.count, transposedComputer{c.Computer, rows, columns}}
}

// transposedComputer is a matrix as its transposed one.
type transposedComputer struct {
	Computer
	rows, columns int // before
}

// At is element i.
func (t transposedComputer) At(i int) float32 { return t.Computer.At(i%t.rows*t.columns + i/t.rows) }

// sign is 1, or -1 if the lowest bit is set.
func sign(word uint64) float32 { return math.Float32frombits(0x3f800000 | uint32(word)<<31) }

// Mixed reports whether the numbers differ.
func (n Numbers) Mixed() bool {
	if n.Len() == 0 {
		return false
	}
	first := n.At(0)
	for _, v := range n.All() {
		if v != first {
			return true
		}
	}
	return false
}

// Equal reports whether two lists have the same numbers, to the bit.
func (n Numbers) Equal(m Numbers) bool {
	if n.Len() != m.Len() {
		return false
	}
	if n.isWide() || m.isWide() {
		for i := range n.Len() {
			if n.Exact(i) != m.Exact(i) {
				return false
			}
		}
		return true
	}
	var a, b [piece]float32
	for i := 0; i < n.Len(); i += piece {
		x, y := a[:min(piece, n.Len()-i)], b[:min(piece, n.Len()-i)]
		n.Read(i, x)
		m.Read(i, y)
		if !slices.EqualFunc(x, y, func(v, w float32) bool { return math.Float32bits(v) == math.Float32bits(w) }) {
			return false
		}
	}
	return true
}
