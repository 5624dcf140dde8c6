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
	// Unsupported are those of nodes that one may do without.
	Unsupported []*ir.Error
	unread      map[int]bool
}

// Unread says that a node could not be read.
func (f *Faults) Unread(node int) {
	if f.unread == nil {
		f.unread = map[int]bool{}
	}
	f.unread[node] = true
}

// Advise adds, to the errors about nodes that are not supported, options that leave these out.
func (f *Faults) Advise(network func() *Wiring) {
	if len(f.Unsupported) > 0 {
		network().advise(f.Unsupported, f.unread)
	}
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
