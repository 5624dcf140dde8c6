//go:build !linux || !(amd64 || arm64 || arm || riscv64) || ripc_static

package runtime

import (
	"bytes"
	"context"

	"ripc/runtime/describe"
)

// Module is a loaded artifact; there are none on this platform.
type Module struct{}

// Session is the memory and the threads of one stream of inferences; there are none on this
// platform.
type Session struct{}

// Load checks the artifact at path and then returns ErrPlatform.
func Load(path string) (*Module, error) {
	if _, err := ReadDescription(path); err != nil {
		return nil, err
	}
	return nil, ErrPlatform
}

// LoadBytes checks the artifact and then returns ErrPlatform.
func LoadBytes(name string, artifact []byte) (*Module, error) {
	if _, _, err := descriptionOf(name, bytes.NewReader(artifact)); err != nil {
		return nil, err
	}
	return nil, ErrPlatform
}

// Description returns nil.
func (m *Module) Description() *describe.Artifact { return nil }

// Path returns "".
func (m *Module) Path() string { return "" }

// NewSession returns ErrPlatform.
func (m *Module) NewSession(threads int) (*Session, error) { return nil, ErrPlatform }

// Close does nothing.
func (m *Module) Close() error { return nil }

// Input returns nil.
func (s *Session) Input(i int) []byte { return nil }

// Output returns nil.
func (s *Session) Output(i int) []byte { return nil }

// Workspace returns nil.
func (s *Session) Workspace() []byte { return nil }

// Module returns nil.
func (s *Session) Module() *Module { return nil }

// describe returns ErrPlatform.
func (s *Session) describe() (*describe.Artifact, error) { return nil, ErrPlatform }

// Threads returns 0.
func (s *Session) Threads() int { return 0 }

// SetInput returns ErrPlatform.
func (s *Session) SetInput(i int, data []byte) error { return ErrPlatform }

// Run returns ErrPlatform.
func (s *Session) Run(ctx context.Context) error { return ErrPlatform }

// RunStages returns ErrPlatform.
func (s *Session) RunStages(ctx context.Context, first, last int) error { return ErrPlatform }

// Close does nothing.
func (s *Session) Close() error { return nil }
