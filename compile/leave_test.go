package compile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLeave: who waits for a stage is let go when the context is done, whatever the stage is at, and hears of its errors and panics before.
func TestLeave(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	wrong := errors.New("wrong")
	if err := leave(ctx, func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := leave(ctx, func() error { return wrong }); err != wrong {
		t.Error(err)
	}
	func() {
		defer func() {
			if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "BUG: it") || !strings.Contains(r, "TestLeave") {
				t.Errorf("panics with %q", r)
			}
		}()
		_ = leave(ctx, func() error { panic("BUG: it") })
	}()
	ended, end := make(chan bool), make(chan bool)
	err := leave(ctx, func() error {
		cancel()
		<-end // as a large layer, which does not look at ctx
		close(ended)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(end)
	<-ended
}
