package zoo_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ripc/examples/networks/zoo"
	"ripc/internal/need"
)

// TestCommitted: the files of examples/squeezenet and examples/convs are what the generator writes, byte for byte. In make test, these
// are a network of bits, one of floats, and all layers.
func TestCommitted(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"squeezenet", "convs"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var networks []zoo.Network
	takes := need.Part(t, 3)
	for i, n := range zoo.Committed() {
		if takes(i + 2) {
			networks = append(networks, n)
		}
	}
	if err := zoo.WriteCommitted(dir, networks); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != len(networks)*2+16*2 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		made, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(filepath.Join("../..", name)); err != nil || !bytes.Equal(made, have) {
			t.Errorf("%s differs from what go run ./examples/networks -committed writes (error %v)", name, err)
		}
	}
}

// pictures is how many pictures the balance of a network is measured on.
func pictures() int {
	if need.Thorough() {
		return 8
	}
	return 3
}

// TestBalance runs committed networks on pictures that neither the calibration nor the report saw: in every layer
// 20 to 80 % of the bits are set and 90 % of the channels vary.
func TestBalance(t *testing.T) {
	for _, n := range zoo.Committed() {
		if n.Bits == 0 {
			continue
		}
		t.Run(n.Name, func(t *testing.T) {
			if err := n.Balance(filepath.Join("../../squeezenet", n.Name+".json"), pictures(), 77, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}
