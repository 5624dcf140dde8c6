package runner

import (
	"context"
	"encoding/json"
	"errors"
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

// getBlob is the inverse of putBlob with a worker's rights. The content is as it was stored, which may be anything: Header.Job checks it.
func getBlob(ctx context.Context, nc *nats.Conn, hash string) ([]byte, error) {
	var content []byte
	for i, n := 0, 1; i < n; i++ {
		m, err := directGet(ctx, nc, streamBlobs, subjectBlob+hash+"."+strconv.Itoa(i))
		if err != nil {
			return nil, fmt.Errorf("part %d of blob %s: %w", i, hash, err)
		}
		if n, err = strconv.Atoi(m.Header.Get(headerParts)); err != nil || n < 1 || n > MaxBlob/blobPart+1 || len(content)+len(m.Data) > MaxBlob {
			return nil, &MessageError{Msg: "blob " + hash + " has parts that cannot be"}
		}
		content = append(content, m.Data...)
	}
	return content, nil
}

// errNotThere says that a stream has no such message.
var errNotThere = errors.New("is not on the hub")

// directGet asks for the last message of a subject.
func directGet(ctx context.Context, nc *nats.Conn, stream, subject string) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, request)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	if err != nil {
		return nil, err
	}
	switch s := m.Header.Get("Status"); s {
	case "":
		return m, nil
	case "404":
		return nil, errNotThere
	default:
		return nil, fmt.Errorf("the hub says %s %s", s, m.Header.Get("Description"))
	}
}

// publish stores a message in the stream of its subject, with a worker's rights.
func publish(ctx context.Context, nc *nats.Conn, m *nats.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, request)
	defer cancel()
	answer, err := nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return err
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return err
	}
	if ack.Error != nil {
		return errors.New(ack.Error.Description)
	}
	if ack.Stream == "" {
		return errors.New("the hub does not say that it is stored")
	}
	return nil
}
