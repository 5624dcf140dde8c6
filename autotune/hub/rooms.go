package hub

import (
	"fmt"
	"sync"

	"github.com/nats-io/nats-server/v2/server"

	"ripc/autotune/runner"
)

// rooms are accounts, one for each worker with a key: messages of a worker reach the fleet only
// where its room imports them, and answers come back to the room alone. In an account with others,
// an answer would go to whatever subject the worker names as its reply, in the name of the server,
// which may do anything. The fleet itself is in the server's global account.
type rooms struct {
	server *server.Server
	mu     sync.Mutex
	made   map[string]*server.Account // by worker
}

// open lets rooms import the subjects that workers may use.
func (r *rooms) open(s *server.Server) error {
	r.server, r.made = s, map[string]*server.Account{}
	all := runner.WorkerRights("*")
	for _, subject := range all.Publish {
		// A pull is answered by a status, a job, or several.
		if err := s.GlobalAccount().AddServiceExportWithResponse(subject, server.Streamed, nil); err != nil {
			return fmt.Errorf("export of %s: %w", subject, err)
		}
	}
	for _, subject := range all.Told {
		if err := s.GlobalAccount().AddStreamExport(subject, nil); err != nil {
			return fmt.Errorf("export of %s: %w", subject, err)
		}
	}
	return nil
}

// find is the room of a worker with rights r.
func (r *rooms) find(worker string, rights runner.Rights) (*server.Account, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.made[worker]; a != nil {
		return a, nil
	}
	a, _ := r.server.LookupOrRegisterAccount("worker-" + worker)
	for _, subject := range rights.Publish {
		if err := a.AddServiceImport(r.server.GlobalAccount(), subject, subject); err != nil {
			return nil, fmt.Errorf("import of %s: %w", subject, err)
		}
	}
	for _, subject := range rights.Told {
		if err := a.AddStreamImport(r.server.GlobalAccount(), subject, ""); err != nil {
			return nil, fmt.Errorf("import of %s: %w", subject, err)
		}
	}
	r.made[worker] = a
	return a, nil
}
