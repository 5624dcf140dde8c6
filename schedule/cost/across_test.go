package cost_test

import (
	"testing"

	"ripc/schedule/cost"
	"ripc/targets"
)

// TestAcrossOf: blocks have all rows, tables of a group stay in the first cache where those of one row do, vectors are whole, and what is read is there.
func TestAcrossOf(t *testing.T) {
	for _, m := range targets.All() {
		for _, bits := range []int{6, 8} {
			for rows := int64(1); rows <= 60; rows += 3 {
				for cols := int64(1); cols <= 120; cols += 7 {
					for window := int64(1); window <= 5; window += 2 {
						l := cost.Layer{Outputs: rows * cols, Rows: rows, Cols: cols, Filters: 128, Taps: window * window, TapRows: window, Channels: 64, ActivationPlanes: 2,
							SpanRows: window, SpanCols: window, Bordered: window / 2}
						a := cost.AcrossOf(m, l, bits)
						last := (a.Rows-1)*a.Width + int(cols) - 1
						reads := a.Positions - 1 + int(window-1)*(a.Width+1)
						switch {
						case a.Rows*a.Blocks < int(rows) || a.Rows*(a.Blocks-1) >= int(rows):
							t.Fatalf("%s: %d rows in %+v", m.Name, rows, a)
						case a.Positions%a.Lanes != 0 || a.Positions <= last || a.Read <= reads:
							t.Fatalf("%s: %dx%d, windows of %d: %+v", m.Name, rows, cols, window, a)
						case a.Rows > 1 && a.Read<<bits > m.L1:
							t.Fatalf("%s: %dx%d: tables of %d bytes: %+v", m.Name, rows, cols, a.Read<<bits, a)
						}
					}
				}
			}
		}
	}
}

// TestAcrossFewBits: an A72 looks counts of 2 and 3 bits up across positions, where a load finds those of 16 and a tbl takes three operations; 1 bit it counts. In-order cores, whose
// loads of 16 bytes take two cycles, do not.
func TestAcrossFewBits(t *testing.T) {
	for name, across := range map[string]bool{"rpi4": true, "jetson-tx2": true, "rpi3": false, "rpi2": false} {
		m := lookup(t, name)
		for _, size := range []int64{14, 7} {
			for planes := int64(1); planes <= 3; planes++ {
				channels := 14 * 256 / size
				l := cost.Layer{Outputs: size * size, Rows: size, Cols: size, Filters: channels, Taps: 9, TapRows: 3, Channels: channels, Words: channels / 32, Inputs: (size + 2) * (size + 2) * channels,
					ActivationPlanes: planes, WeightPlanes: 1, Levels: 1<<planes - 1, SpanRows: 3, SpanCols: 3, Bordered: 1, Short: true}
				if got := cost.Table(m, l, 8, targets.Across) < min(cost.Popcount(m, l), cost.Table(m, l, 4, targets.OnePosition)); got != (across && planes > 1) {
					t.Errorf("%s, %d channels of %d bits: across positions: %t", name, channels, planes, got)
				}
			}
		}
	}
}
