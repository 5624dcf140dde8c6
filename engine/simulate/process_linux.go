package simulate

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent makes a process end when this one does, however it ends: compiled code may never.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// settle pins a new process to the last n of the allowed cores, if that leaves others, so that
// timed code keeps its caches. Measuring goes on if the system refuses.
func settle(pid, n int) {
	var may, chosen unix.CPUSet
	if unix.SchedGetaffinity(0, &may) != nil || may.Count() <= n {
		return
	}
	for core := len(may)*64 - 1; core >= 0 && chosen.Count() < n; core-- {
		if may.IsSet(core) {
			chosen.Set(core)
		}
	}
	_ = unix.SchedSetaffinity(pid, &chosen)
}
