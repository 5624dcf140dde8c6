//go:build (amd64 || arm64) && linux && !ripc_static

package opencl

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"ripc/runtime/device"
)

// TestFind: a driver that fails hides none of those behind it, and is named if there are no others.
func TestFind(t *testing.T) {
	drivers := []int32{-5, errAbsent, 0} // by platform: the result of clGetDeviceIDs
	a := &api{
		GetPlatformIDs: func(_ uint32, ids *handle, n *uint32) int32 {
			if n != nil {
				*n = uint32(len(drivers))
				return 0
			}
			for i := range drivers {
				unsafe.Slice(ids, len(drivers))[i] = handle(i)
			}
			return 0
		},
		GetDeviceIDs: func(p handle, _ uint64, _ uint32, ids *handle, _ *uint32) int32 {
			*ids = p + 10
			return drivers[p]
		},
		GetDeviceInfo: func(handle, uint32, uintptr, unsafe.Pointer, *uintptr) int32 { return 0 },
	}
	if u, err := a.find([]string{"gpu"}); err != nil || u.id != 12 {
		t.Errorf("device %d, %v", u.id, err)
	}
	drivers = drivers[:2]
	var failed *device.CallError
	if _, err := a.find([]string{"gpu"}); !errors.As(err, &failed) || failed.Code != -5 {
		t.Error(err)
	}
}

// TestLargeBuffer: a buffer that a device does not have is refused before the driver sees it.
func TestLargeBuffer(t *testing.T) {
	d := &driver{chosen: unit{name: "a phone", buffer: 100}}
	if _, err := d.Allocate(101); err == nil || !strings.Contains(err.Error(), "101 bytes; one of a phone has at most 100: take a smaller batch") {
		t.Error(err)
	}
}
