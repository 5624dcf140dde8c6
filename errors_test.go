package ripc_test

import (
	"context"
	"strings"
	"testing"

	"ripc"
)

func TestUnknownPass(t *testing.T) {
	_, err := ripc.Compile(context.Background(), "examples/digits/digits.json", ripc.Options{Disable: []string{"bind"}})
	if err == nil || !ripc.IsBadInput(err) || !strings.Contains(err.Error(), "disable pass bind") || !strings.Contains(err.Error(), "fold_steps") {
		t.Errorf("%v", err)
	}
}
