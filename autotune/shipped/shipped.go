// Package shipped has the records that come with ripc: the best schedules that were found of the
// layers of some usual networks, by target. `make shipped-records` makes them (lab/records);
// docs/shipped-records.md has the date and the machines.
package shipped

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"

	"ripc/autotune/records"
)

// Name stands for these records where the name of a file of records is wanted. A file that is
// called so is "./shipped".
const Name = "shipped"

//go:embed records.jsonl.gz
var packed []byte

// Records are all that come with ripc.
func Records() (*records.Set, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the records that come with ripc: %w", err)
	}
	s, err := records.Read(z)
	if err != nil {
		return nil, fmt.Errorf("the records that come with ripc: %w", err)
	}
	return s, nil
}

// Load is Records for Name, and records.LoadExisting of any other path.
func Load(path string) (*records.Set, error) {
	if path == Name {
		return Records()
	}
	return records.LoadExisting(path)
}
