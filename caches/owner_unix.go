//go:build unix

package caches

import (
	"io/fs"
	"os"
	"syscall"
)

// writers says who but this user and root can put files into the folder of info; "" means nobody.
func writers(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return intruders(s.Uid, s.Gid, info.Mode(), os.Geteuid())
	}
	return ""
}
