package runtime_test

import (
	"fmt"

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
