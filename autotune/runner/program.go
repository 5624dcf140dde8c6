package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"ripc/targets/guests"
)

// WorkerName is the file name, beside ripc, of the static worker for an architecture as
// descriptions name it.
func WorkerName(arch string) string { return "ripc-worker-" + arch }

// workerProgram is the static worker for an architecture, the file beside this program.
func workerProgram(arch string) ([]byte, error) {
	if _, ok := guests.Of(arch); !ok {
		return nil, fmt.Errorf("there are no workers for %s", arch)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("where this program is: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	beside := filepath.Dir(self)
	program, err := os.ReadFile(filepath.Join(beside, WorkerName(arch)))
	if err != nil {
		return nil, fmt.Errorf("no worker for %s: put %s into %s (make workers builds it)", arch, WorkerName(arch),
			beside)
	}
	return program, nil
}
