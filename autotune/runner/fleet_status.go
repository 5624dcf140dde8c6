package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ripc/internal/terminal"
)

// FleetStatus is the state of a hub.
type FleetStatus struct {
	Members []Member
	Queued  uint64 // jobs that no worker has
	Running int    // jobs that a worker has
	Results uint64 // that are kept
	Bytes   uint64 // that the hub keeps on its disk
}

// Status asks the hub. It wants a tuner's key.
func (f Fleet) Status(ctx context.Context) (FleetStatus, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	nc, _, err := f.connect(f.endRefused(cancel))
	if err != nil {
		return FleetStatus{}, f.lostError(err)
	}
	defer nc.Close()
	s, err := f.status(ctx, nc)
	if err != nil {
		return FleetStatus{}, f.lostError(cmp.Or(context.Cause(ctx), err))
	}
	return s, nil
}

func (f Fleet) status(ctx context.Context, nc *nats.Conn) (FleetStatus, error) {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(request))
	if err != nil {
		return FleetStatus{}, err
	}
	var s FleetStatus
	if s.Members, err = members(ctx, js, f.heartbeat()); err != nil {
		return FleetStatus{}, err
	}
	for _, c := range fleetStreams() {
		stream, err := js.Stream(ctx, c.Name)
		if err != nil {
			return FleetStatus{}, err
		}
		info := stream.CachedInfo()
		s.Bytes += info.State.Bytes
		switch c.Name {
		case streamResults:
			s.Results = info.State.Msgs
		case streamJobs:
			s.Queued = info.State.Msgs
			list := stream.ListConsumers(ctx)
			for c := range list.Info() {
				s.Running += c.NumAckPending
			}
			if err := list.Err(); err != nil {
				return FleetStatus{}, err
			}
			s.Queued -= min(s.Queued, uint64(s.Running))
		}
	}
	return s, nil
}

// lives is how many times a worker may fail to say that it is there before it is taken to be gone.
const lives = 3

// members are the workers that said something lately, by host and ID.
func members(ctx context.Context, js jetstream.JetStream, heartbeat time.Duration) ([]Member, error) {
	s, err := js.Stream(ctx, streamWorkers)
	if err != nil {
		return nil, err
	}
	now := s.CachedInfo().TimeStamp
	all := map[string]Member{} // by ID: one may say something else meanwhile
	for next := uint64(1); ; {
		m, err := s.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subjectWorker+"*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		next = m.Sequence + 1
		if one, ok := decodeMember(m.Subject, m.Data); ok {
			one.Seen = m.Time
			one.Alive = now.Sub(m.Time) < lives*heartbeat
			all[one.ID] = one
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Member) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.ID, b.ID))
	}), nil
}

// decodeMember reads a worker's message about itself under subject; ok is whether it can be.
func decodeMember(subject string, text []byte) (m Member, ok bool) {
	err := json.Unmarshal(text, &m)
	terminal.CleanAll(&m, maxSaid)
	return m, err == nil && subjectWorker+m.ID == subject
}
