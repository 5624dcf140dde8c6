package compile

// InternalError is a mistake in ripc, even where its cause is of a type that stands for bad input elsewhere.
type InternalError struct {
	what string
	err  error
}

func (e *InternalError) Error() string { return "internal error: " + e.what + ": " + e.err.Error() }
func (e *InternalError) Unwrap() error { return e.err }
