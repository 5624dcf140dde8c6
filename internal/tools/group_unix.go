//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// endGroup lets the end of c's context end the processes that c started, too.
func endGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
