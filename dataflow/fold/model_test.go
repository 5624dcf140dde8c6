package fold_test

import (
	"strings"
	"testing"

	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/targets/fpga"
)

// TestModels: every family has a model with a price for each kind of unit, and all of a design's units have a cost.
func TestModels(t *testing.T) {
	for _, f := range fpga.Families() {
		m := fold.ModelOf(f)
		if m.Family == "" || m.Tool == "" || m.Units == 0 || m.BlockFrom == 0 {
			t.Errorf("%s: %+v", f.Name, m)
		}
		for module := range strings.FieldsSeq("addl cat dwc fifo fork2 largest lookup mvu window") {
			if len(m.LUTs[module]) == 0 {
				t.Errorf("%s: no unit %s was synthesized", f.Name, module)
			}
		}
		s := segment(t, "fpga/every.json")
		folds := map[string]dataflow.Fold{}
		for _, st := range s.MVUs() {
			folds[st.Name] = st.Engine.(*dataflow.MVU).Folds()[0]
		}
		for _, u := range dataflow.Outline(s, folds).Units {
			if c := m.Price(u, f); c.LUTs <= 0 || c.FFs <= 0 {
				t.Errorf("%s: unit %s: %+v", f.Name, u.Name, c)
			}
		}
	}
}
