package runtime_test

import (
	"context"
	"fmt"
	"log"

	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

// A program that has its pictures as NumPy arrays passes them to a network whose description says what it takes. Arrays of
// another type or shape are refused, not converted.
func ExampleFromArray() {
	takes := describe.Tensor{Name: "image", DType: "u8", Shape: []int{1, 2, 2}}
	picture := &npy.Array{DType: "u8", Shape: []int{2, 2}, Data: []byte{1, 2, 3, 4}}
	data, err := runtime.FromArray(takes, picture)
	fmt.Println(data, err)
	_, err = runtime.FromArray(takes, &npy.Array{DType: "i8", Shape: []int{2, 2}, Data: []byte{1, 2, 3, 4}})
	fmt.Println(err)
	// Output:
	// [1 2 3 4] <nil>
	// tensor "image" is u8 [1 2 2], the array is i8 [2 2]; convert it (astype, reshape)
}

// A library for this machine (ripc compile digits.json -o digits), one picture in, ten numbers out.
func Example() {
	m, err := runtime.Load("digits.so") // checks format, architecture and CPU features
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession(2) // memory and two threads
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	picture := make([]float32, 256)
	if err := runtime.SetInput(s, 0, picture); err != nil {
		log.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	logits, err := runtime.Output[float32](s, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(logits)
}

// With go:embed the library is part of the program:
//
//	//go:embed digits.so
//	var library []byte
func ExampleLoadBytes() {
	var library []byte
	m, err := runtime.LoadBytes("digits.so", library)
	if err != nil {
		fmt.Println("not loaded")
		return
	}
	defer m.Close()
	// Output: not loaded
}
