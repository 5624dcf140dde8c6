package ablation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/lab/figures"
)

// PaperRow is a figure or a table of a paper beside the figures of the store.
type PaperRow struct{ Figure, Subject, Theirs, Ours string }

// PaperRows returns the rows of papers that the store has figures of, and these figures.
func PaperRows(s *figures.Store, boards []string) (rows []PaperRow, used []*figures.Figure) {
	r := results{s}
	find := func(board, network, variant string) *figure {
		f := r.find(board, network, variant)
		if f != nil && !slices.ContainsFunc(used, func(o *figures.Figure) bool { return o.Key == f.Key }) {
			used = append(used, f.Figure)
		}
		return f
	}
	add := func(row PaperRow, on []string, text func(board string, full string) string) {
		var all []string
		for _, b := range on {
			if t := text(b, setOf(features(b)...).String()); t != "" {
				all = append(all, b+" "+t)
			}
		}
		if row.Ours = strings.Join(all, "; "); row.Ours != "" {
			rows = append(rows, row)
		}
	}
	speed := func(board, network, variant, twin string) float64 {
		f, floats := find(board, network, variant), find(board, network, twin)
		if f == nil || floats == nil {
			return math.NaN()
		}
		return floats.Cost / f.Cost
	}
	add(PaperRow{Figure: "Riptide, figure 5",
		Subject: "SqueezeNet's speed, and without the least and the most useful optimization",
		Theirs:  "10.6x, 8.4x, 2.9x"}, boards, func(b, full string) string {
		var all []float64
		for _, s := range leaveOneOut(b) {
			all = append(all, speed(b, ladderNetwork, s.on.String(), floatTwin))
		}
		return times(speed(b, ladderNetwork, full, floatTwin), slices.Max(all), slices.Min(all))
	})
	add(PaperRow{Figure: "Riptide, figure 7", Subject: "SqueezeNet's glue if it is not fused, share of the time",
		Theirs: "44 %"}, boards, func(b, _ string) string {
		i := slices.Index(features(b), glue)
		if f := find(b, ladderNetwork, leaveOneOut(b)[i].on.String()); f != nil {
			return fmt.Sprintf("%.0f %%", 100*f.Values["glue_share"])
		}
		return ""
	})
	add(PaperRow{Figure: "Riptide, figure 8",
		Subject: "SqueezeNet's speed without any optimization; the last one's gain",
		Theirs:  "0.14x, 1.3x"}, boards, func(b, full string) string {
		steps := ladder(b)
		return times(speed(b, ladderNetwork, steps[0].on.String(), floatTwin),
			speed(b, ladderNetwork, full, steps[len(steps)-2].on.String()))
	})
	add(PaperRow{Figure: "Riptide, section 5.1",
		Subject: "time with unipolar levels beside that with bipolar ones, mean",
		Theirs:  "1.25x"}, boards, func(b, full string) string {
		sum, n := 0.0, 0.0
		for _, p := range published() {
			f, bipolar := find(b, p.network, full), find(b, p.network+"_bipolar", full)
			if f != nil && bipolar != nil {
				sum, n = sum+math.Log(f.Cost/bipolar.Cost), n+1
			}
		}
		return times(math.Exp(sum / n))
	})
	for _, other := range []struct{ figure, board, theirs string }{
		{"2", "pixel1", "12x to over 17x; 9x to 12x"}, {"11", "rpi4", "14x to over 20x; 6x to 10x"},
		{"16", "rpi5", "11.5x to 16.5x; 2.7x to 3.7x"}} {
		add(PaperRow{Figure: "Larq, figure " + other.figure,
			Subject: "ResNet-18's convolutions A to D in bits, beside floats; 8 bits",
			Theirs:  other.theirs}, []string{other.board}, func(b, full string) string {
			beside := func(variant string) string {
				all := lists.Map(resnetShapes(), func(s shape) float64 { return speed(b, s.name(), full, variant) })
				return times(all...)
			}
			floats, bytes := beside(floatTwin), beside(eightBits)
			if floats == "" || bytes == "" {
				return ""
			}
			return floats + "; " + bytes
		})
	}
	add(PaperRow{Figure: "Larq, table 6", Subject: "convolutions of many sizes in bits, beside floats, mean",
		Theirs: "17x"}, []string{"rpi4"}, func(b, full string) string {
		sum, n := 0.0, 0.0
		for _, s := range r.completeShapes(b, sweep()) {
			sum, n = sum+speed(b, s.name(), full, floatTwin), n+1
		}
		return times(sum / n)
	})
	add(PaperRow{Figure: "Larq, table 5",
		Subject: "share of QuickNet that quantizes and adds; here all but convolutions",
		Theirs:  "13 %"}, []string{"rpi4"}, func(b, full string) string {
		if f := find(b, "quicknet", full); f != nil {
			return fmt.Sprintf("%.0f %%", 100*f.Values["glue_share"])
		}
		return ""
	})
	return rows, used
}

// times lists quotients, or is "" if one is missing.
func times(all ...float64) string {
	var texts []string
	for _, x := range all {
		if math.IsNaN(x) {
			return ""
		}
		format := "%.1fx"
		if x < 2 {
			format = "%.2fx"
		}
		texts = append(texts, fmt.Sprintf(format, x))
	}
	return strings.Join(texts, ", ")
}
