package ripc

import (
	"context"

	"ripc/autotune/runner"
	"ripc/engine"
)

// elsewhere reaches the machine that requests call On (ssh:USER@HOST), for artifacts to run there; nil, for "", is here.
func elsewhere(ctx context.Context, on string) func(path string) (engine.Far, error) {
	if on == "" {
		return nil
	}
	return func(path string) (engine.Far, error) { return runner.Reach(ctx, on, path, runner.Options{}) }
}
