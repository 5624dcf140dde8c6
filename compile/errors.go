package compile

import "ripc/codegen"

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

// MissingKindError is that a network was compiled without a kind of file (Options.Emit) that is to
// be written.
type MissingKindError struct{ Kind codegen.Kind }

func (e *MissingKindError) Error() string {
	return "the network was compiled without a file of kind " + string(e.Kind)
}
