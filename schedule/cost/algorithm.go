// Package cost estimates what code costs on a target before there is any.
package cost

import "ripc/targets"

// Layer is what the algorithms of a layer cost by.
type Layer struct {
	Outputs, Filters               int64 // positions of all rows and pictures; output channels
	Taps, Channels                 int64 // of the window; input channels that an output reads
	Words                          int64 // of 32 channels that hold those
	ActivationPlanes, WeightPlanes int64
	Inputs                         int64 // elements of the input with its padding
	Grouped                        bool  // output channels read different input channels
	Dense                          bool  // one row of outputs
}

// Estimate is a cost; estimates for one target compare.
type Estimate float64

// Less compares estimates.
func (e Estimate) Less(o Estimate) bool { return e < o }

// Popcount estimates sums of popcounts of words.
func Popcount(t targets.Target, l Layer) Estimate { return 0 }

// Float estimates sums in f32 over unpacked levels.
func Float(t targets.Target, l Layer) Estimate { return 0 }
