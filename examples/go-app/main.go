// Command go-app carries a network inside itself (go:embed) and says which digits pictures show.
//
//	go-app PICTURES.npy ANSWERS.npy
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"slices"

	"ripc/runtime"
	"ripc/runtime/npy"
)

//go:generate ../../bin/ripc compile ../digits/digits.json -o digits

//go:embed digits.so
var library []byte

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go-app PICTURES.npy ANSWERS.npy")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(picturesFile, answersFile string) error {
	pictures, err := npy.ReadFile(picturesFile)
	if err != nil {
		return err
	}
	answers, err := npy.ReadFile(answersFile)
	if err != nil {
		return err
	}
	m, err := runtime.LoadBytes("digits.so", library) // checks format, architecture and CPU features first
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := m.NewSession(2) // memory and two threads
	if err != nil {
		return err
	}
	defer s.Close()
	logits, err := runtime.Output[float32](s, 0) // a view: it changes with every run
	if err != nil {
		return err
	}
	right, count := 0, 0
	for picture := range slices.Chunk(pictures.Data, len(s.Input(0))) {
		if err := s.SetInput(0, picture); err != nil {
			return err
		}
		if err := s.Run(context.Background()); err != nil {
			return err
		}
		best := slices.Index(logits, slices.Max(logits))
		if uint64(best) == binary.LittleEndian.Uint64(answers.Data[8*count:]) {
			right++
		}
		count++
	}
	fmt.Printf("%d of %d right, %s\n", right, count, m.Description().Target)
	return nil
}
