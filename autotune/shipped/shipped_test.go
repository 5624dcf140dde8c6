package shipped_test

import (
	"testing"

	"ripc/autotune/shipped"
)

// TestRecords: what comes with ripc is whole, and of each kernel there is the default schedule and one that costs no more.
func TestRecords(t *testing.T) {
	s, err := shipped.Load(shipped.Name)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Damaged) > 0 || len(s.Foreign) > 0 || len(s.Records) == 0 {
		t.Fatalf("%d records, damaged: %v, foreign: %v", len(s.Records), s.Damaged, s.Foreign)
	}
	for _, task := range s.Tasks() {
		for _, class := range s.Classes(task) {
			usual, ok := s.Default(task, class)
			best := s.Ranked(task, class)[0]
			if !ok || best.Result.Cost > usual.Result.Cost || len(s.Ranked(task, class)) > 2 {
				t.Errorf("%s for %s: %d candidates, the best costs %v, the default schedule %v", best.Workload.Shape, task.Target, len(s.Ranked(task, class)), best.Result.Cost, usual.Result.Cost)
			}
		}
	}
	if _, err := shipped.Load("no/such/file"); err == nil {
		t.Error("a file that is not there was read")
	}
}
