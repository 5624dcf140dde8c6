package cost_test

import (
	"math"
	"testing"

	"ripc/schedule/cost"
	"ripc/targets"
)

// TestFewBitsStay: with weights of 1 bit, and with 2 by 2 bits, bits are always cheaper; 4 by 4 bits are not on rpi4.
func TestFewBitsStay(t *testing.T) {
	l := cost.Layer{Outputs: 28 * 28, Rows: 28, Cols: 28, Filters: 128, Taps: 9, TapRows: 3, Channels: 128, Words: 4, Inputs: 30 * 30 * 128}
	for _, m := range targets.All() {
		for _, c := range []struct {
			activations, weights int64
			float                bool
		}{{1, 1, false}, {2, 1, false}, {2, 2, false}, {4, 4, m.MeasuredOn() == "rpi4"}} {
			l.ActivationPlanes, l.WeightPlanes, l.Levels = c.activations, c.weights, 1<<c.activations-1
			got := cost.Float(m, l) < cost.Popcount(m, l)
			if got != c.float && (c.weights < 4 || c.float) {
				t.Errorf("%s, %dx%d: float is %v", m.Name, c.activations, c.weights, got)
			}
		}
	}
}

// TestStraddlingGroups: floats cost more where words of filters are of several groups, and products of bytes do not where all groups are one.
func TestStraddlingGroups(t *testing.T) {
	m := lookup(t, "rpi5")
	layer := func(filters, together int64) cost.Layer {
		return cost.Layer{Outputs: 196, Rows: 14, Cols: 14, Filters: 2 * filters, Taps: 1, TapRows: 1, Channels: 64, Words: 2, Steps: 16, ActivationPlanes: 8, WeightPlanes: 8, Inputs: 196 * 128,
			Groups: 2, GroupFilters: filters, BlockFilters: together, Bytes: true}
	}
	if even, odd := cost.Float(m, layer(96, 96)), cost.Float(m, layer(100, 100)); odd < 2*even {
		t.Errorf("floats of groups of 96 filters cost %.0f, of 100 %.0f", even, odd)
	}
	if one, all := cost.Dot(m, layer(62, 62)), cost.Dot(m, layer(62, 124)); all > one/2 {
		t.Errorf("products of groups of 62 filters cost %.0f, of both %.0f", one, all)
	}
}

// TestLookedUp: what tables were measured to cost, in cycles of one thread of the machine of the other measurements (examples/convs, 64
// to 512 channels, ripc bench --algorithm conv=TABLE), or estimated cycles of boards, is estimated to a factor of 1.6, and tables are chosen for 2 and 3 bits, and for 1 bit where a
// popcount takes many operations.
func TestLookedUp(t *testing.T) {
	v3, v4, zen := lookup(t, "x86-64-v3"), lookup(t, "x86-64-v4"), lookup(t, "zen5")
	zen.Features = append(zen.Features, "avx512vbmi", "avx512bitalg")
	a53, a76 := lookup(t, "rpi3"), lookup(t, "rpi5")
	for _, m := range []struct {
		target   targets.Target
		size, ch int64
		bits     int64
		group    int
		cycles   float64
	}{
		{zen, 56, 64, 2, 6, 342e3}, {zen, 28, 128, 2, 6, 267e3}, {zen, 14, 256, 2, 6, 244e3}, {zen, 7, 512, 2, 6, 235e3},
		{zen, 56, 64, 3, 6, 404e3}, {zen, 28, 128, 3, 6, 325e3}, {zen, 14, 256, 3, 6, 289e3}, {zen, 7, 512, 3, 6, 271e3},
		{v4, 28, 128, 1, 4, 387e3}, {v4, 28, 128, 2, 4, 405e3},
		{v3, 28, 128, 1, 4, 683e3}, {v3, 28, 128, 2, 4, 702e3},
		{a53, 28, 128, 2, 4, 6061e3}, {a53, 28, 128, 3, 4, 7608e3}, {a53, 7, 512, 2, 4, 6028e3}, {a76, 28, 128, 2, 4, 2510e3}, {a76, 28, 128, 3, 4, 3243e3},
	} {
		l := cost.Layer{Outputs: m.size * m.size, Rows: m.size, Cols: m.size, Filters: m.ch, Taps: 9, TapRows: 3, Channels: m.ch, Words: m.ch / 32,
			ActivationPlanes: m.bits, WeightPlanes: 1, Inputs: (m.size + 2) * (m.size + 2) * m.ch, Levels: 1<<m.bits - 1}
		table, pop := float64(cost.Table(m.target, l, m.group, targets.OnePosition)), float64(cost.Popcount(m.target, l))
		if q := table / m.cycles; math.Max(q, 1/q) > 1.6 {
			t.Errorf("%s, %d channels, %d bits: %.0f cycles are estimated to be %.0f", m.target.Name, m.ch, m.bits, m.cycles, table)
		}
		if table > pop {
			t.Errorf("%s, %d channels, %d bits: popcounts are estimated to take %.0f cycles, tables %.0f", m.target.Name, m.ch, m.bits, pop, table)
		}
		if l.ActivationPlanes, l.Levels = 1, 1; (m.group == 6 || m.target.Arch == "aarch64") && cost.Table(m.target, l, m.group, targets.OnePosition) < cost.Popcount(m.target, l) {
			t.Errorf("%s, %d channels: tables for 1 bit", m.target.Name, m.ch)
		}
	}
}

// TestHalvesOfOneBit: rows of 1 bit are counted, not looked up two positions at a time, which takes a fifth more on the A53.
func TestHalvesOfOneBit(t *testing.T) {
	a53 := lookup(t, "rpi3")
	for _, c := range []struct{ size, ch int64 }{{56, 64}, {28, 128}, {14, 256}, {7, 512}} {
		l := cost.Layer{Outputs: c.size * c.size, Rows: c.size, Cols: c.size, Filters: c.ch, Taps: 9, TapRows: 3, Channels: c.ch, Words: c.ch / 32,
			ActivationPlanes: 1, WeightPlanes: 1, Inputs: (c.size + 2) * (c.size + 2) * c.ch, Levels: 1, Short: true}
		if cost.Table(a53, l, 4, targets.BothHalves) < cost.Popcount(a53, l) {
			t.Errorf("%d channels are looked up", c.ch)
		}
	}
}

func lookup(t *testing.T, name string) targets.Target {
	m, err := targets.Measured(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNarrowDot: sums of products of bytes cost less where several are added in 16 bits first, and as much where an instruction adds them in 32 bits
// at once, or none adds them at all.
func TestNarrowDot(t *testing.T) {
	for name, less := range map[string]bool{"rpi3": true, "rpi4": true, "rpi3-armv7": true, "x86-64-v3": true, "x86-64-v4": true, "rpi5": false, "x86-64": false} {
		tg, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l := cost.Layer{Outputs: 196, Rows: 14, Cols: 14, Filters: 256, Taps: 9, TapRows: 3, Channels: 256, Steps: 576, ActivationPlanes: 8, WeightPlanes: 8, Inputs: 65536, Bytes: true}
		wide := cost.Dot(tg, l)
		l.Narrow = 4
		if narrow := cost.Dot(tg, l); (narrow < wide) != less || narrow > wide {
			t.Errorf("%s: %.3g, and %.3g where 4 steps are added in 16 bits", name, wide, narrow)
		}
	}
}
