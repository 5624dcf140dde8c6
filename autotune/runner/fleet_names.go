package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A fleet is a NATS server with JetStream between tuners and workers. All that passes through it
// has a subject below "ripc.":
//
//	ripc.job.POOL.ID            a Header, once, until the job is done       stream ripc-jobs
//	ripc.blob.HASH.N            part N of a blob                            stream ripc-blobs
//	ripc.result.POOL.ID.WORKER  a worker's answer, for who asks again       stream ripc-results
//	ripc.stored.POOL.ID.WORKER  says that the same is stored now
//	ripc.worker.WORKER          a worker's last message about itself        stream ripc-workers
//	ripc.drop.POOL.ID           tells a worker that nobody waits for the job any more
//	ripc.rest.WORKER            tells a worker with bad answers to pull no more jobs
//	ripc.inbox.WORKER.>         answers to a worker's requests
//
// POOL names the workers that stand for each other, see pool. JetStream's own messages about jobs
// that were given to workers again and again are kept in stream ripc-lost.
const (
	subjectJob    = "ripc.job."
	subjectBlob   = "ripc.blob."
	subjectResult = "ripc.result."
	subjectStored = "ripc.stored."
	subjectWorker = "ripc.worker."
	subjectDrop   = "ripc.drop."
	subjectRest   = "ripc.rest."
	subjectInbox  = "ripc.inbox."
	subjectLost   = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.ripc-jobs."

	streamJobs    = "ripc-jobs"
	streamBlobs   = "ripc-blobs"
	streamResults = "ripc-results"
	streamWorkers = "ripc-workers"
	streamLost    = "ripc-lost"
)

// Headers of messages.
const (
	headerLease = "Ripc-Lease" // of a job: how long a worker may be silent before another gets it
	headerFault = "Ripc-Fault" // of a result: why the worker could not measure; there is nothing else in it then
	headerParts = "Ripc-Parts" // of a part of a blob: how many there are
)

// blobPart is how long a part of a blob is at most, in bytes; NATS takes messages of 1 MiB.
const blobPart = 512 << 10

// deliveries is how many workers may be lost with a job before the job is to blame.
const deliveries = 4

// fleetStreams are the streams of a fleet. Old messages go by themselves: a tuner that still needs
// it sends it again.
func fleetStreams() []jetstream.StreamConfig {
	const day = 24 * time.Hour
	return []jetstream.StreamConfig{
		{Name: streamJobs, Subjects: []string{subjectJob + ">"}, Retention: jetstream.WorkQueuePolicy, MaxAge: 7 * day,
			AllowDirect:       true,
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true},
		{Name: streamBlobs, Subjects: []string{subjectBlob + ">"}, MaxAge: day, MaxBytes: 4 << 30, AllowDirect: true,
			MaxMsgsPerSubject: 1},
		{Name: streamResults, Subjects: []string{subjectResult + ">"}, MaxAge: 30 * day, MaxBytes: 1 << 30,
			AllowDirect: true,
			RePublish: &jetstream.RePublish{Source: subjectResult + ">", Destination: subjectStored + ">",
				HeadersOnly: true}},
		{Name: streamWorkers, Subjects: []string{subjectWorker + ">"}, MaxAge: 7 * day, AllowDirect: true,
			MaxMsgsPerSubject: 1},
		{Name: streamLost, Subjects: []string{subjectLost + ">"}, MaxAge: day, AllowDirect: true},
	}
}

// noStorage is NATS's error code for a stream that may become larger than the rest of the server's
// disk.
const noStorage jetstream.ErrorCode = 10047

// leastStream is the least size of a stream with a limit, in bytes: the kernels of some hundred
// candidates.
const leastStream = 64 << 20

// SetUpFleet makes a fleet's streams on a server, unless they are there. Streams that may become
// large get less where the disk is small.
func SetUpFleet(ctx context.Context, js jetstream.JetStream) error {
	for _, c := range fleetStreams() {
		_, err := js.CreateStream(ctx, c)
		for full := (*jetstream.APIError)(nil); errors.As(err, &full) && full.ErrorCode == noStorage &&
			c.MaxBytes/2 >= leastStream; {
			c.MaxBytes /= 2
			_, err = js.CreateStream(ctx, c)
		}
		if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return fmt.Errorf("stream %s: %w", c.Name, err)
		}
	}
	return nil
}

// Rights are the subjects that a client of a fleet may use: where it publishes and subscribes, and
// of the latter those that others tell it something on, which are no answers to itself.
type Rights struct{ Publish, Subscribe, Told []string }

// WorkerRights are those of the worker called id: to pull jobs and read their blobs, to answer, and
// to say that it is there. It cannot ask for measurements, answer as another one, or see messages
// to others.
func WorkerRights(id string) Rights {
	told := []string{subjectRest + id, subjectDrop + "*.*"}
	return Rights{
		Told: told,
		Publish: []string{
			"$JS.API.CONSUMER.MSG.NEXT." + streamJobs + ".*",
			"$JS.API.DIRECT.GET." + streamBlobs + ".>",
			"$JS.ACK." + streamJobs + ".>",
			subjectResult + "*.*." + id,
			subjectWorker + id,
		},
		Subscribe: append([]string{subjectInbox + id + ".>"}, told...),
	}
}

// lastOf is the last part of a subject.
func lastOf(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// RestSubject is where tuners tell workers to rest, and RestedWorker which worker a message there
// is about.
const RestSubject = subjectRest + "*"

// RestedWorker is the worker's name in a subject like RestSubject.
func RestedWorker(subject string) string { return strings.TrimPrefix(subject, subjectRest) }

// Resting is how long a worker pulls no jobs after it was told to rest, and how long the hub keeps
// it out.
const Resting = 10 * time.Minute

// pool is all workers that can stand for each other: of the same CPU, or of whatever CPU that
// simulate the same target.
type pool struct {
	Arch, CPU, Simulates string
}

func (a *Announcement) pool() pool {
	if a.Simulates != "" {
		return pool{Simulates: a.Simulates}
	}
	return pool{Arch: a.Arch, CPU: a.CPU}
}

// id is p in subjects and names of consumers.
func (p pool) id() string { return Hash([]byte(p.Arch + "\n" + p.CPU + "\n" + p.Simulates))[:16] }
