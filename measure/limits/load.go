//go:build !windows

package limits

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// load maps the library. dlerror's text belongs to the OS thread of the failing call.
func (s *Set) load(file string) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s.handle, err = purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	for _, k := range s.Kernels {
		entry, err := purego.Dlsym(s.handle, k.symbol())
		if err != nil {
			return errors.Join(fmt.Errorf("limits: %w", err), s.Close())
		}
		s.entries = append(s.entries, entry)
	}
	return nil
}

// Close unmaps the library.
func (s *Set) Close() error {
	if s.handle == 0 {
		return nil
	}
	return purego.Dlclose(s.handle)
}
