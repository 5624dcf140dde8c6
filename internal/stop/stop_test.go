package stop

import (
	"errors"
	"testing"
)

func TestTry(t *testing.T) {
	fault := errors.New("a fault of the file")
	if err := Try(func() { Check(nil); Must(1, fault) }); !errors.Is(err, fault) {
		t.Errorf("Try returned %v, want %v", err, fault)
	}
	if err := Try(func() { Must(1, nil) }); err != nil {
		t.Errorf("Try returned %v, want nil", err)
	}
	for name, f := range map[string]func(){"a broken invariant": func() { panic("BUG: x") }, "a runtime error": func() { _ = []int{}[len(name())] }} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("Try took a panic that is no fault of the file for one")
				}
			}()
			_ = Try(f)
		})
	}
}

// TestCatch: an error of a deferred call stands behind the one that ended the work.
func TestCatch(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	f := func(closed error) (err error) {
		defer Catch(&err)
		defer func() { err = errors.Join(err, closed) }()
		Must2(1, 2, first)
		return nil
	}
	if err := f(nil); err != first {
		t.Errorf("got %v, want the error itself", err)
	}
	if err := f(second); err == nil || err.Error() != "first\nsecond" {
		t.Errorf("got %v, want both", err)
	}
}

func name() string { return "" }
