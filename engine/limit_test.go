package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimit: the limit's time passes before a process is stopped, and nothing waits for it behind the process's end.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := withLimit(t.Context(), time.Minute, 2)
		defer cancel()
		if <-ctx.Done(); context.Cause(ctx) != errLimit || time.Since(start) != 3*time.Minute {
			t.Errorf("%v after %v", context.Cause(ctx), time.Since(start))
		}
		ended, end := withLimit(t.Context(), time.Minute, 2)
		end()
		if synctest.Wait(); context.Cause(ended) != context.Canceled || time.Since(start) != 3*time.Minute {
			t.Errorf("%v after %v", context.Cause(ended), time.Since(start))
		}
	})
}
