package verify

import "context"

// Keeping is Verify that keeps at most n bytes of workspaces at a time.
func Keeping(ctx context.Context, in Input, n int) (*Report, error) { return verify(ctx, in, n) }
