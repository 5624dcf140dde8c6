package fit

import (
	"math"
	"testing"

	"ripc/schedule/machine"
)

// TestRegrets: a choice by costs themselves is the best one; one by their negatives is the worst.
func TestRegrets(t *testing.T) {
	var points []described
	for g := range 3 {
		for i := range leastPoints {
			cost := float64(1 + (i*5)%leastPoints + g)
			points = append(points, described{point: point{Cost: cost}, Point: machine.Point{Group: string(rune('a' + g)), Cost: cost}})
		}
	}
	points = append(points, described{point: point{Cost: 1}, Point: machine.Point{Group: "alone"}}) // no pool
	best := regrets(points, func(i int) float64 { return points[i].point.Cost }, 1)
	worst := regrets(points, func(i int) float64 { return -points[i].point.Cost }, 1)
	if len(best) != 3 || best[2] != 1 || worst[2] != leastPoints || math.Abs(worst[0]-10./3) > 1e-9 {
		t.Errorf("best %v, worst %v", best, worst)
	}
	if all := regrets(points, func(i int) float64 { return -points[i].point.Cost }, leastPoints); all[2] != 1 {
		t.Errorf("the best of all: %v", all)
	}
}
