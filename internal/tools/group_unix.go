//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// EndGroup lets the end of c's context end the processes that c started, too.
func EndGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
