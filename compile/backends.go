package compile

import (
	"fmt"
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
