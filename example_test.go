package ripc_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ripc"
	"ripc/codegen"
)

// A program that compiles a network itself and writes the files that it wants: here C and its header, for which no LLVM is needed.
func ExampleCompile() {
	dir, err := os.MkdirTemp("", "ripc-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := ripc.Compile(context.Background(), "examples/digits/digits.json", ripc.Options{Target: "cortex-m4", Emit: []codegen.Kind{codegen.Source, codegen.Header}})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Write(filepath.Join(dir, "digits")); err != nil {
		log.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range found {
		fmt.Println(filepath.Base(path))
	}
	fmt.Println(c.Functions()[0])
	fmt.Println(c.Write(filepath.Join(dir, "digits"), codegen.SO))
	// Output:
	// digits.c
	// digits.h
	// digits_run
	// the network was compiled without a file of kind so
}
