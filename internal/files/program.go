package files

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that this process is going to start. A process that is forked while
// the file is open for writing has a descriptor of it until it becomes another program, and so long
// the file cannot be started ("text file busy"): none is forked meanwhile.
func WriteProgram(path string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, 0o700)
}
