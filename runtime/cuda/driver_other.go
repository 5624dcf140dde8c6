//go:build !linux || !(amd64 || arm64) || ripc_static

package cuda

import (
	"ripc/runtime"
	"ripc/runtime/device"
)

// Open returns runtime.ErrPlatform.
func Open(string) (*device.Session, error) { return nil, runtime.ErrPlatform }

// Name returns runtime.ErrPlatform.
func Name([]string) (string, error) { return "", runtime.ErrPlatform }

// Find returns runtime.ErrPlatform.
func Find() (GPU, error) { return GPU{}, runtime.ErrPlatform }
