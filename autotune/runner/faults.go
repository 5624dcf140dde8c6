package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/autotune/records"
	"ripc/engine"
)

// errLimit says that a candidate was stopped because it took too long.
var errLimit = errors.New("time is up")

// limitTime is ctx for a candidate that may take limit.
func limitTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errLimit)
}

// answerFailure makes the answer to j from err, the error of a candidate that ran in ctx (of
// limitTime); it is err if that says nothing of it.
func answerFailure(ctx context.Context, answer Result, err error, s Settings) (Result, error) {
	var fault *engine.FaultError
	f := &records.Failure{Kind: records.Crashed}
	switch {
	case context.Cause(ctx) == errLimit || errors.Is(err, errSilent):
		f.Kind, f.Text = records.TimedOut, fmt.Sprintf("it did not return within %v", s.Limit)
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.As(engine.FaultOf(err), &fault):
		f.Text = "it " + fault.How()
	default:
		return Result{}, err
	}
	answer.Measurement = records.Measurement{Failure: f}
	return answer, nil
}

// Blank is the contents of an output of n bytes, and of the workspace, before a kernel runs. It
// shows kernels that count on zeros, or write nothing. Parts of an output that a kernel
// does not write, such as the other parts of a concatenation, still hold it.
func Blank(n int64) []byte { return engine.Pattern(make([]byte, n), blank) }

// blank is where Blank's pattern begins.
const blank = 0x5A
