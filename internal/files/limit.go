package files

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ToolLimit bounds the time of a tool that ripc starts (opt, llc, a C compiler). Seconds are
// usual.
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

// WithToolLimit lets tools that are started with the context returned run for another time than
// ToolLimit.
func WithToolLimit(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, toolLimitKey{}, limit)
}

// LimitTool returns the context to run a tool with. Its cause is *ToolLimitError when the tool's
// time is over, else ctx's cause.
func LimitTool(ctx context.Context, tool string) (context.Context, context.CancelFunc) {
	late := LimitOf(ctx, tool, 1)
	return context.WithTimeoutCause(ctx, late.Limit, late)
}

// LimitOf returns the limit of a tool that runs several jobs: each job may take as long as a tool.
func LimitOf(ctx context.Context, tool string, jobs int) *ToolLimitError {
	limit := ToolLimit
	if d, ok := ctx.Value(toolLimitKey{}).(time.Duration); ok {
		limit = d
	}
	return &ToolLimitError{Tool: tool, Limit: time.Duration(jobs) * limit}
}

// Stopped returns the reason why ctx ended: *ToolLimitError if a tool's time is over, else ctx's
// error.
func Stopped(ctx context.Context) error {
	if late := (*ToolLimitError)(nil); errors.As(context.Cause(ctx), &late) {
		return late
	}
	return ctx.Err()
}
