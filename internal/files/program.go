package files

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that this process will start. A process that is forked while the
// file is open for writing inherits its descriptor until it calls exec. Until then the file cannot
// be started ("text file busy"). So the write holds the fork lock.
func WriteProgram(path string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, 0o700)
}
