package compile

// InternalError is a mistake in ripc, even where its cause is of a type that stands for bad input
// elsewhere.
type InternalError struct {
	what string
	err  error
}

func (e *InternalError) Error() string { return "internal error: " + e.what + ": " + e.err.Error() }

// BadInput reports that ripc is at fault, whatever the cause is.
func (*InternalError) BadInput() bool { return false }

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.err }
