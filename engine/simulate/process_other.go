//go:build !linux

package simulate

import "os/exec"

// endWithParent does nothing here.
func endWithParent(*exec.Cmd) {}

// settle does nothing here.
func settle(int, int) {}
