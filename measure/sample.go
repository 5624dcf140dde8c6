package measure

import (
	"context"
	"time"
)

// Budget bounds the time of Sample. It measures until Runs and Time are both reached, but stops at
// Limit once it has Few runs. The first runs, up to a tenth of Time, warm up.
type Budget struct {
	Runs  int
	Time  time.Duration
	Few   int
	Limit time.Duration
}

// Thorough is for figures that people read: at least 20 runs and a second.
func Thorough() Budget { return Budget{Runs: 20, Time: time.Second, Few: 3, Limit: 30 * time.Second} }

// Quick is for choosing among many: at least five runs and five milliseconds.
func Quick() Budget { return Budget{Runs: 5, Time: 5 * time.Millisecond, Few: 2, Limit: time.Second} }

// Sample calls run until b is used up.
func Sample(ctx context.Context, b Budget, progress func(int, int, string), what string,
	run func(warm bool) error) error {
	start := time.Now()
	for warm := 0; warm == 0 || (warm < b.Runs && time.Since(start) < b.Time/10); warm++ {
		if err := run(true); err != nil {
			return err
		}
	}
	start = time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= b.Time && n >= b.Runs || took >= b.Limit && n >= b.Few {
			return nil
		}
		if progress != nil && n%64 == 0 {
			progress(min(n, b.Runs), b.Runs, what)
		}
		if err := run(false); err != nil {
			return err
		}
	}
}
