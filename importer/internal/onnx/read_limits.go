package onnx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"ripc/importer/internal/kit"
	"ripc/internal/stop"
)

const (
	maxFile     = math.MaxInt32 // bytes, as in protocol buffers
	maxNesting  = 64            // messages inside messages; a graph with its attributes has some eight
	messageCost = 320           // bytes that a message takes in memory, at most
	baseMemory  = 256 << 20     // bytes that any file may use, whatever its length
	maxElements = 1<<31 - 1     // of one tensor
)

// checkWire walks the file's protocol buffer without building anything. It finds where a damaged
// file breaks off. It also bounds the memory for reading: a message of two bytes takes hundreds in
// memory, so a short file could ask for a lot.
func checkWire(md protoreflect.MessageDescriptor, data []byte, base int64) error {
	w := &wire{limit: base + 4*int64(len(data))}
	return w.message(md, data, 0, string(md.Name()), 0)
}

type wire struct{ cost, limit int64 }

func (w *wire) charge(n int64, at int) error {
	if w.cost += n; w.cost > w.limit {
		return fmt.Errorf("byte %d: reading the file would take more than %d MiB of memory", at, w.limit>>20)
	}
	return nil
}

// message checks one message, data, that begins at offset base of the file; path names it.
func (w *wire) message(md protoreflect.MessageDescriptor, data []byte, base int, path string, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("byte %d: %s: messages are nested more than %d deep", base, path, maxNesting)
	}
	if err := w.charge(messageCost, base); err != nil {
		return err
	}
	for at := 0; at < len(data); {
		num, typ, n := protowire.ConsumeTag(data[at:])
		if n < 0 {
			return fmt.Errorf("byte %d: %s: %s", base+at, path, fault(n))
		}
		fd := md.Fields().ByNumber(num)
		field := path
		if fd != nil {
			field = path + "." + string(fd.Name())
		}
		size := protowire.ConsumeFieldValue(num, typ, data[at+n:])
		if size < 0 {
			return fmt.Errorf("byte %d: %s: %s", base+at, field, fault(size))
		}
		if err := w.field(fd, typ, data[at+n:at+n+size], base+at+n, field, depth); err != nil {
			return err
		}
		at += n + size
	}
	return nil
}

// fault is the message for protowire's code n.
func fault(n int) string {
	if errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF) {
		return "the file breaks off here"
	}
	return "these bytes are no protocol buffer"
}

// field checks a field's value; fd is nil for one that the schema does not have, which is kept as
// it is.
func (w *wire) field(fd protoreflect.FieldDescriptor, typ protowire.Type, value []byte, at int, path string,
	depth int) error {
	if typ == protowire.StartGroupType {
		return fmt.Errorf("byte %d: %s: a group, which ONNX does not use", at, path)
	}
	cost := int64(len(value)) + 16
	if fd != nil && typ == protowire.BytesType {
		content, n := protowire.ConsumeBytes(value)
		switch kind := fd.Kind(); kind {
		case protoreflect.MessageKind:
			return w.message(fd.Message(), content, at+n-len(content), path, depth+1)
		case protoreflect.StringKind, protoreflect.BytesKind:
			cost += 24
		default: // packed numbers, one byte or more each
			cost = 8 * int64(len(content))
		}
	}
	return w.charge(cost, at)
}

// budget counts the bytes of the arrays that one file leads to, and the steps of work that arrays
// do not bound.
type budget struct {
	left, work int64
	ctx        context.Context // of the reading that the work is done for
}

const maxWork int64 = 1 << 33

// spend counts n steps, which are to be done next, if anybody still waits for them.
func (b *budget) spend(n int) {
	stop.Check(b.ctx.Err())
	if b.work += int64(n); b.work > maxWork {
		panic(fmt.Errorf("its constants take more than %d operations to compute", int64(maxWork)))
	}
}

// take reserves n elements of size bytes.
func (b *budget) take(n, size int) {
	if b.left -= int64(n) * int64(size); b.left < 0 {
		panic(fmt.Errorf("its constants need more memory than a file of this size may ask for"))
	}
}

// elements is the number of elements of a shape, which must be positive or zero everywhere.
func elements(shape []int) (int, error) {
	switch n := kit.Count(shape, maxElements); {
	case n <= maxElements:
		return n, nil
	case slices.Min(shape) < 0:
		return 0, fmt.Errorf("shape %v has a negative extent", shape)
	}
	return 0, fmt.Errorf("shape %v has more than 2^31 elements", shape)
}
