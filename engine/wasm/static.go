//go:build ripc_static

package wasm

import (
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Session is a module with its memory. Programs for boards have no virtual machine for it.
type Session struct{ runtime.Session }

// Open returns runtime.ErrPlatform.
func Open(string, int, bool) (*Session, error) { return nil, runtime.ErrPlatform }

// Description returns nil.
func (s *Session) Description() *describe.Artifact { return nil }
