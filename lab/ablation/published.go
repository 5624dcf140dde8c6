package ablation

import (
	"fmt"
	"strings"

	"ripc/lab/task"
)

// publication is a network with the times of a paper, of itself and of its float network.
type publication struct {
	network, float string
	took, floats   float64 // ms
}

// published are the networks of Riptide's Table 1, on a Raspberry Pi 3B: unipolar and bipolar
// levels of 1 to 3 bits, and weights of 1 bit, of ResNets 2. The large ones come last.
func published() (all []publication) {
	add := func(network string, floats float64, took map[string]float64, variants ...string) {
		for _, v := range variants {
			all = append(all, publication{network + "_" + v, network + "_a1", took[v], floats})
		}
	}
	six := []string{"a1", "a2", "a3", "a1_bipolar", "a2_bipolar", "a3_bipolar"}
	add("alexnet", 1260, map[string]float64{"a1": 150.4, "a2": 196.8, "a3": 282.8, "a1_bipolar": 122.7,
		"a2_bipolar": 154.6, "a3_bipolar": 207}, six...)
	add("resnet18", 385.5, map[string]float64{"a1_w2": 82, "a2_w2": 177.2}, "a1_w2", "a2_w2")
	add("resnet50", 771.8, map[string]float64{"a1_w2": 171.9, "a2_w2": 340.3}, "a1_w2", "a2_w2")
	add("vggnet", 2420, map[string]float64{"a1": 243.8, "a2": 387.2, "a3": 610, "a1_bipolar": 184.1,
		"a2_bipolar": 271.4, "a3_bipolar": 423.5}, six...)
	return all
}

// publishedOf compares these networks with their float twins, on all targets.
func (r results) publishedOf(b *strings.Builder) {
	names, table := r.targets(), ""
	for _, p := range published() {
		cells, some := []string{p.network}, false
		for _, t := range names {
			f, twin := r.find(t, p.network, setOf(features(t)...).String()), r.find(t, p.float, floatTwin)
			if f == nil || twin == nil {
				cells = append(cells, "-")
				continue
			}
			cells, some = append(cells, fmt.Sprintf("%.1f", twin.Cost/f.Cost)), true
		}
		if some {
			table += task.Row(append(cells, fmt.Sprintf("%.1f", p.floats/p.took))...)
		}
	}
	if table != "" {
		b.WriteString("\n## The networks of Riptide's Table 1\n\nTimes the speed of the float twin. " +
			"The paper's are of a Raspberry Pi 3B with 4 threads.\n\n")
		b.WriteString(task.Head(append(append([]string{"network"}, names...), "the paper")...) + table)
	}
}
