package library

import (
	"encoding/gob"
	"io"
	"os"
)

// compiler makes objects for the Settings of an order.
type compiler interface {
	object(ll []byte) ([]byte, error)
}

// serve is the main loop of a child: it compiles texts until the input ends, which also ends a
// compilation in progress.
func serve(in io.Reader, out io.Writer, begin func(order) (compiler, error)) {
	from, to := gob.NewDecoder(in), gob.NewEncoder(out)
	say := func(a answer, err error) {
		if err != nil {
			a.Err = err.Error()
		}
		if to.Encode(a) != nil {
			os.Exit(1)
		}
	}
	var o order
	if from.Decode(&o) != nil {
		return
	}
	c, err := begin(o)
	say(answer{}, err)
	if err != nil {
		return
	}
	texts := make(chan []byte)
	go func() {
		for {
			var ll []byte
			if from.Decode(&ll) != nil { // the parent has ended
				os.Exit(0)
			}
			texts <- ll
		}
	}()
	for ll := range texts {
		object, err := c.object(ll)
		say(answer{Object: object}, err)
	}
}
