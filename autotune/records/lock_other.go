//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package records

import (
	"os"
	"time"
)

// lock does nothing where there is no flock: there, one tuner at a time may write to a file.
const lockTime = time.Minute

func lock(*os.File, time.Duration) error { return nil }

func unlock(*os.File) error { return nil }
