package simulate

import (
	"os/exec"
	"syscall"
)

// endWithParent makes a process end when this one does, however it ends: compiled code may never.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
