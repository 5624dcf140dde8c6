package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// putBlob stores content in parts in stream s, unless it is there.
func putBlob(ctx context.Context, js jetstream.JetStream, s jetstream.Stream, hash string, content []byte) error {
	parts := slices.Collect(slices.Chunk(content, blobPart))
	if len(parts) == 0 {
		parts = [][]byte{nil}
	}
	subject := func(i int) string { return subjectBlob + hash + "." + strconv.Itoa(i) }
	_, first := s.GetLastMsgForSubject(ctx, subject(0))
	_, last := s.GetLastMsgForSubject(ctx, subject(len(parts)-1))
	if first == nil && last == nil { // all was stored, and none is gone yet
		return nil
	}
	for i, p := range parts {
		m := nats.NewMsg(subject(i))
		m.Data = p
		m.Header.Set(headerParts, strconv.Itoa(len(parts)))
		if _, err := js.PublishMsg(ctx, m); err != nil {
			return fmt.Errorf("part %d of a blob: %w", i, err)
		}
	}
	return nil
}

// getBlob is the inverse of putBlob with a worker's rights. The content is as it was stored, which
// may be anything: Header.Job checks it.
func getBlob(ctx context.Context, js nats.JetStreamContext, hash string) ([]byte, error) {
	var content []byte
	for i, n := 0, 1; i < n; i++ {
		limited, cancel := context.WithTimeout(ctx, request)
		m, err := js.GetLastMsg(streamBlobs, subjectBlob+hash+"."+strconv.Itoa(i), nats.DirectGet(),
			nats.Context(limited))
		cancel()
		if err != nil {
			return nil, fmt.Errorf("part %d of blob %s: %w", i, hash, err)
		}
		if n, err = strconv.Atoi(m.Header.Get(headerParts)); err != nil || n < 1 || n > MaxBlob/blobPart+1 ||
			len(content)+len(m.Data) > MaxBlob {
			return nil, &MessageError{Msg: "blob " + hash + " has parts that cannot be"}
		}
		content = append(content, m.Data...)
	}
	return content, nil
}
