//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package records

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until this process alone has f. The system unlocks it when the process ends, however it does.
func lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
