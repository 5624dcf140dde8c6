package main

import (
	"path/filepath"
	"reflect"
	"testing"
)

// TestGains: a run's gain takes the place of its old one, gains lie in the order of runs, those of runs that are no more are gone, and a file has what was written.
func TestGains(t *testing.T) {
	runs := []run{{Target: "rpi3", Network: "a"}, {Target: "rpi3", Network: "b"}, {Target: "rpi4", Network: "a"}}
	old := []gain{{Target: "rpi4", Network: "a", Best: 1}, {Target: "rpi5", Network: "a", Best: 2}, {Target: "rpi3", Network: "b", Best: 3}}
	now := replaceGain(old, gain{Target: "rpi3", Network: "b", Best: 4}, runs)
	want := []gain{{Target: "rpi3", Network: "b", Best: 4}, {Target: "rpi4", Network: "a", Best: 1}}
	if !reflect.DeepEqual(now, want) {
		t.Fatalf("%v, not %v", now, want)
	}
	path := filepath.Join(t.TempDir(), "gains.json")
	if got, err := readGains(path); err != nil || got != nil {
		t.Fatalf("of no file: %v, %v", got, err)
	}
	if err := writeGains(path, now); err != nil {
		t.Fatal(err)
	}
	if got, err := readGains(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v, not %v", got, err, want)
	}
}
