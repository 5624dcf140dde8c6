//go:build !linux || !(amd64 || arm64) || ripc_static

package opencl

import (
	"time"

	"ripc/runtime"
	"ripc/runtime/describe"
)

// Session is a network on a device; there are none on this platform.
type Session struct{ runtime.Session }

// Open returns runtime.ErrPlatform.
func Open(string) (*Session, error) { return nil, runtime.ErrPlatform }

// Description returns nil.
func (s *Session) Description() *describe.Artifact { return nil }

// Device returns "".
func (s *Session) Device() string { return "" }

// Took returns 0.
func (s *Session) Took() time.Duration { return 0 }
