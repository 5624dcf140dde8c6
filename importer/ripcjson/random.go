package ripcjson

import (
	"hash/fnv"
	"math"

	"ripc/graph"
)

// generator makes weights from a seed. Element i of a tensor depends on the seed, the tensor's name
// and i alone. First come a hash and a fraction:
//
//	k_i = splitmix64((seed*0x9E3779B97F4A7C15 ^ fnv64a(name)) + (i+1)*0x9E3779B97F4A7C15)
//	u_i = float32(k_i >> 40) * 2^-24                  in [0, 1), exact
//
// splitmix64 stands for its finalizer (Steele, Lea, Flood 2014). All arithmetic of k_i is modulo
// 2^64. The elements follow in float32, with one rounding for each operation:
//
//	w                    (2u - 1) * bound, bound = float32(gain * sqrt(6/fanIn)):
//	                     He et al. 2015 for gain 1
//	w, bitserial layers  the sign of w
//	w, integer layers    int(256u) - 128, or 2*int(values*u) - (values-1)
//	bias                 int(2000u) - 1000
//	multiplier           (0.9 + 0.2u) * float32(1/(64*sqrt(fanIn)))
//	scale                (0.9 + 0.2u) * (bound/2)
//	gamma                0.9 + 0.2u
//	beta                 0.2u - 0.1
//	mean, b              0
//	var                  1
//	alpha                0.5u
//	value                2u - 1
//	zero_point           int(8u)
//	thresholds [n, C]    (j - (n-1)/2 + (0.8u - 0.4)) * (2/(n+1)), j = i/C
type generator struct {
	seed   uint64
	gain   float64
	values int // of w, 0 for any
}

// stride is 2^64 divided by the golden ratio, odd.
const stride = 0x9E3779B97F4A7C15

// numbers makes the elements of weight key. fanIn is the number of products in one output (w and
// scale).
func (g *generator) numbers(key, name string, shape []int, fanIn int) graph.Numbers {
	return graph.NumbersOf(g.computedNumbers(key, name, shape, fanIn).Floats())
}

// computedNumbers are made whenever they are read, and take no memory.
func (g *generator) computedNumbers(key, name string, shape []int, fanIn int) graph.Numbers {
	return graph.ComputedNumbers(product(shape), g.elements(key, name, shape, fanIn))
}

// elements are those of a weight. Each depends on its number alone.
type elements struct {
	key           string
	shape         []int
	start         uint64
	bound         float32
	fanIn, values int
}

func (g *generator) elements(key, name string, shape []int, fanIn int) elements {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails to write
	return elements{key, shape, g.seed*stride ^ h.Sum64(), float32(g.gain * math.Sqrt(6/float64(max(fanIn, 1)))),
		max(fanIn, 1), g.values}
}

// At is element i.
func (e elements) At(i int) float32 {
	u := uniform(e.start + uint64(i+1)*stride)
	switch e.key {
	case "w":
		if e.values > 1 {
			return float32(2*int(float32(e.values)*u)-e.values+1) * (e.bound / float32(e.values-1))
		}
		return float32(2*u-1) * e.bound
	case "integers":
		if e.values > 1 {
			return float32(2*int(float32(e.values)*u) - e.values + 1)
		}
		return float32(int(256*u) - 128)
	case "bias":
		return float32(int(2000*u) - 1000)
	case "multiplier":
		return float32(0.9+float32(0.2*u)) * float32(1/(64*math.Sqrt(float64(e.fanIn))))
	case "scale":
		return float32(0.9+float32(0.2*u)) * (e.bound / 2)
	case "offset":
		return float32(2*u-1) * (e.bound / 4)
	case "gamma":
		return 0.9 + float32(0.2*u)
	case "beta":
		return float32(0.2*u) - 0.1
	case "alpha":
		return 0.5 * u
	case "zero_point":
		return float32(int(8 * u))
	case "value":
		return 2*u - 1
	case "thresholds":
		row := float32(i/e.shape[1]) - float32(e.shape[0]-1)/2
		return (row + float32(float32(0.8*u)-0.4)) * (2 / float32(e.shape[0]+1))
	case "var":
		return 1
	}
	return 0
}

// uniform is splitmix64's finalizer, cut to the 24 bits that a float32 holds.
func uniform(z uint64) float32 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float32(z>>40) * (1.0 / (1 << 24))
}
