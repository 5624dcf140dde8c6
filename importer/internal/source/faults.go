package source

import (
	"errors"
	"fmt"

	"ripc/ir"
)

// MaxFaults bounds the list of faults of a file.
const MaxFaults = 100

// Faults are the errors of one file, in the order in which they were found.
type Faults struct {
	File string
	errs []error // the first MaxFaults
	more int     // faults beyond these
}

// Add lists a fault.
func (f *Faults) Add(err error) {
	if len(f.errs) == MaxFaults {
		f.more++
		return
	}
	f.errs = append(f.errs, err)
}

// Any reports whether there are faults.
func (f *Faults) Any() bool { return len(f.errs) > 0 }

// Err joins the faults, nil if there are none; a last line counts those that are too many to list.
func (f *Faults) Err() error {
	errs := f.errs[:len(f.errs):len(f.errs)]
	if f.more > 0 {
		errs = append(errs, &ir.Error{Pos: ir.Pos{File: f.File}, Msg: fmt.Sprintf("and %d more faults", f.more)})
	}
	return errors.Join(errs...)
}
