package compile

import (
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/codegen/board"
	"ripc/codegen/c99"
	"ripc/codegen/llvm"
)

// backends lists all back ends. Each kind of file is made by the first that can.
func backends() []codegen.Backend {
	return []codegen.Backend{llvm.Backend{}, board.Backend{}, c99.Backend{}}
}

// Backends lists the names that Options.Backend may be.
func Backends() []string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name())
	}
	return names
}

// UnknownBackendError says that no back end has the given name.
type UnknownBackendError struct{ Name string }

func (e *UnknownBackendError) Error() string {
	return fmt.Sprintf("unknown back end %q; there are %s", e.Name, strings.Join(Backends(), ", "))
}

// chosen gives the back ends that may build: the one called name, or all.
func chosen(name string) ([]codegen.Backend, error) {
	if name == "" {
		return backends(), nil
	}
	for _, b := range backends() {
		if b.Name() == name {
			return []codegen.Backend{b}, nil
		}
	}
	return nil, &UnknownBackendError{name}
}

// DefaultEmit lists the files that a user of a target wants first: a shared library and its header, or C where no back end
// makes libraries.
func DefaultEmit(target, backend string) []codegen.Kind {
	return []codegen.Kind{firstMade(target, backend, codegen.SO, codegen.Source), codegen.Header}
}

// CodeText is the kind of file that shows what codegen made, which Options.Observe sees if Options.Emit has it.
func CodeText(target, backend string) codegen.Kind {
	return firstMade(target, backend, codegen.LL, codegen.Source)
}

// firstMade is the first kind if some back end makes it for a target, else the second.
func firstMade(target, backend string, first, second codegen.Kind) codegen.Kind {
	t, err := findTarget(target)
	use, berr := chosen(backend)
	if err != nil || berr != nil { // which compiling will tell
		return first
	}
	for _, b := range use {
		if slices.Contains(b.Kinds(), first) && b.Accepts(t, first) == nil {
			return first
		}
	}
	return second
}
