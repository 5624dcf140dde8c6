//go:build !linux || !(amd64 || arm64) || ripc_static

package opencl

import (
	"ripc/runtime"
	"ripc/runtime/device"
)

// Find returns runtime.ErrPlatform.
func Find() error { return runtime.ErrPlatform }

// OpenOn returns runtime.ErrPlatform.
func OpenOn(string, Queue) (*device.Session, error) { return nil, runtime.ErrPlatform }

// Open returns runtime.ErrPlatform.
func Open(string) (*device.Session, error) { return nil, runtime.ErrPlatform }

// Name returns runtime.ErrPlatform.
func Name([]string) (string, error) { return "", runtime.ErrPlatform }
