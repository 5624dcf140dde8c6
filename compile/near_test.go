package compile

import (
	"testing"

	"ripc/codegen"
	"ripc/schedule/cost"
)

// TestNear: what schedules take for the size of a buffer on the stack is what back ends put there.
func TestNear(t *testing.T) {
	if cost.Near != codegen.MaxOnStack {
		t.Errorf("schedules want %d bytes on the stack, back ends put %d there", cost.Near, codegen.MaxOnStack)
	}
}
