//go:build (amd64 || arm64) && !ripc_static

package device

import (
	"fmt"
	"reflect"

	"github.com/ebitengine/purego"
)

// Link fills a struct of functions, to which functions points, from an open library. Field F is the
// library's function prefix + F, or that which the field's tag names.
func Link(library uintptr, file, prefix string, functions any) error {
	v := reflect.ValueOf(functions).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("name")
		if name == "" {
			name = prefix + field.Name
		}
		fn, err := purego.Dlsym(library, name)
		if err != nil {
			return fmt.Errorf("%s has no %s", file, name)
		}
		purego.RegisterFunc(v.Field(i).Addr().Interface(), fn)
	}
	return nil
}
