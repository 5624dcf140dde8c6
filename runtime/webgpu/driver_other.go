//go:build !linux

package webgpu

import (
	"ripc/runtime"
	"ripc/runtime/device"
)

// Open returns runtime.ErrPlatform.
func Open(string) (*device.Session, error) { return nil, runtime.ErrPlatform }

// Name returns runtime.ErrPlatform.
func Name([]string) (string, error) { return "", runtime.ErrPlatform }
