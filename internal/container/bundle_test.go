package container_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"ripc/internal/container"
)

// TestBundle: each byte of a part counts, a bundle that ends early is refused, and a zip archive alone is no bundle.
func TestBundle(t *testing.T) {
	file, err := container.NewBundle([]byte("{}"), container.Part{Name: container.Kernels + "cl", Data: []byte("__kernel f")},
		container.Part{Name: container.Constants, Data: []byte{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(file); err != nil {
		t.Fatal(err)
	}
	f, err := container.Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if b := f.(*container.Bundle); b.Arch() != container.OpenCL || string(b.Part(container.Kernels+"cl")) != "__kernel f" || b.Part("other") != nil {
		t.Errorf("arch %q", b.Arch())
	}
	for _, part := range []string{"{}\x00", "__kernel f", "\x01\x02\x03\x04"} {
		at := bytes.Index(file, []byte(part))
		for i := range len(part) {
			bad := slices.Clone(file)
			bad[at+i] ^= 1
			if err := check(bad); err == nil {
				t.Errorf("a changed byte of %q passes", part)
			}
		}
	}
	if check(file[:len(file)-1]) == nil {
		t.Error("a file that ends early passes")
	}
	if _, err := container.Open(bytes.NewReader(file[4:])); !errors.Is(err, container.ErrUnknown) {
		t.Errorf("a zip archive is a bundle: %v", err)
	}
}
