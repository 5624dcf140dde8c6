//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package records

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockTime is how long is waited for other processes, which have a file for a write at a time.
const lockTime = time.Minute

// lock waits until this process alone has f, for a time. The system unlocks it when the process
// ends, however it does.
func lock(f *os.File, limit time.Duration) error {
	end := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if time.Now().After(end) {
			return &LockedError{For: limit}
		}
		time.Sleep(pause)
	}
}

func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
