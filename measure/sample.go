package measure

import (
	"context"
	"time"
)

// How long Sample measures: until both bounds of the first line are reached, but no longer than the second allows.
const (
	benchRuns, benchTime = 20, time.Second
	benchFew, benchLimit = 3, 30 * time.Second
)

// Sample calls run until the bounds above are reached; the first calls, up to a tenth of the time, are to warm up.
func Sample(ctx context.Context, progress func(int, int, string), what string, run func(warm bool) error) error {
	start := time.Now()
	for warm := 0; warm == 0 || (warm < benchRuns && time.Since(start) < benchTime/10); warm++ {
		if err := run(true); err != nil {
			return err
		}
	}
	start = time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= benchTime && n >= benchRuns || took >= benchLimit && n >= benchFew {
			return nil
		}
		if progress != nil && n%64 == 0 {
			progress(min(n, benchRuns), benchRuns, what)
		}
		if err := run(false); err != nil {
			return err
		}
	}
}
