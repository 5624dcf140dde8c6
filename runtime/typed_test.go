package runtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"ripc/runtime"
)

// TestTyped reads and writes tensors as numbers, and refuses what they are not.
func TestTyped(t *testing.T) {
	m, s := open(t, build(t, twoStage(), nil), 1)
	if s.Module() != m {
		t.Error("another module")
	}
	y := make([]uint8, 1024)
	y[3] = 7
	if err := errors.Join(runtime.SetInput(s, 1, y), s.Run(context.Background())); err != nil {
		t.Fatal(err)
	}
	x, err := runtime.Input[int32](s, 0)
	if err != nil || len(x) != 1024 {
		t.Fatal(len(x), err)
	}
	x[3] = -5
	if got := int32(binary.LittleEndian.Uint32(s.Input(0)[12:])); got != -5 || s.Input(1)[3] != 7 {
		t.Errorf("%d and %d were written", got, s.Input(1)[3])
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	z, err := runtime.Output[int32](s, 0)
	if want := int32(3*-5+7) ^ 85; err != nil || z[1020] != want {
		t.Errorf("%d, want %d, %v", z[1020], want, err)
	}

	var wrong *runtime.ElementError
	if _, err := runtime.Input[float32](s, 0); !errors.As(err, &wrong) || wrong.Got != "f32" || !strings.Contains(err.Error(), "tensor x is i32 [1 1024], not f32") {
		t.Errorf("i32 as f32: %v", err)
	}
	if _, err := runtime.Input[int8](s, 1); !errors.As(err, &wrong) || wrong.Got != "i8" {
		t.Errorf("u8 as i8: %v", err)
	}
	if _, err := runtime.Output[uint32](s, 0); !errors.As(err, &wrong) || wrong.Got != "u32" {
		t.Errorf("i32 as u32: %v", err)
	}
	for _, i := range []int{-1, 2} {
		if _, err := runtime.Input[int32](s, i); err == nil || !strings.Contains(err.Error(), "there are 2") {
			t.Errorf("input %d: %v", i, err)
		}
	}
	if err := runtime.SetInput(s, 0, []int32{1}); err == nil || !strings.Contains(err.Error(), "has 1024 numbers") {
		t.Errorf("one number: %v", err)
	}
	if err := runtime.SetInput(s, 0, []float32{1}); !errors.As(err, &wrong) {
		t.Errorf("a float: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.Input[int32](s, 0); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestLoadBytes loads artifacts from memory, several at once and one after the other, and refuses what Load refuses.
func TestLoadBytes(t *testing.T) {
	one := build(t, twoStage(), nil)
	d := twoStage()
	d.Target = "other"
	two := build(t, d, nil)
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	before := openFiles(t)
	for range 3 {
		var open []*runtime.Module
		for i, data := range [][]byte{read(one), read(two), read(one)} {
			m, err := runtime.LoadBytes("net.so", data)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{"host", "other", "host"}[i]; m.Description().Target != want || m.Path() != "net.so" {
				t.Errorf("%s is for %s, want %s", m.Path(), m.Description().Target, want)
			}
			s, err := m.NewSession(2)
			if err != nil {
				t.Fatal(err)
			}
			want := fill(t, s, m.Description(), uint64(i))
			if err := s.Run(context.Background()); err != nil || string(s.Output(0)) != string(want) {
				t.Errorf("wrong output, %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			open = append(open, m)
		}
		for _, m := range open {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	var file *runtime.FileError
	if _, err := runtime.LoadBytes("net.so", []byte("text")); !errors.As(err, &file) || file.Path != "net.so" {
		t.Errorf("no artifact: %v", err)
	}
	d.Features = []string{"made-up"}
	var feature *runtime.FeatureError
	if _, err := runtime.LoadBytes("net.so", read(build(t, d, nil))); !errors.As(err, &feature) {
		t.Errorf("features: %v", err)
	}
	d.Features, d.Name = nil, "other"
	if _, err := runtime.LoadBytes("net.so", read(build(t, d, nil))); !errors.As(err, &file) {
		t.Errorf("another name: %v", err)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, before there were %d", after, before)
	}
}

// openFiles counts the open files of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
