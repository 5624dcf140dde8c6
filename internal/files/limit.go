package files

import (
	"context"
	"fmt"
	"time"
)

// ToolLimit is how long a tool that ripc starts (opt, llc, a C compiler) may run. Seconds are usual.
const ToolLimit = 15 * time.Minute

// ToolLimitError says that a tool did not end in time, and was killed.
type ToolLimitError struct {
	Tool  string
	Limit time.Duration
}

func (e *ToolLimitError) Error() string {
	return fmt.Sprintf("waited %v for %s, which did not end and was killed", e.Limit, e.Tool)
}

type toolLimitKey struct{}

// WithToolLimit lets tools that are started with the context returned run for another time than ToolLimit.
func WithToolLimit(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, toolLimitKey{}, limit)
}

// LimitTool is the context to run a tool with. Its cause is *ToolLimitError when the tool's time is over, else ctx's.
func LimitTool(ctx context.Context, tool string) (context.Context, context.CancelFunc) {
	limit := ToolLimit
	if d, ok := ctx.Value(toolLimitKey{}).(time.Duration); ok {
		limit = d
	}
	return context.WithTimeoutCause(ctx, limit, &ToolLimitError{Tool: tool, Limit: limit})
}
