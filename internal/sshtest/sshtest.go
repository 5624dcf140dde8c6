// Package sshtest is a real sshd for tests: of this user, on a port and with keys of its own.
package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	"ripc/internal/need"
)

// Server is a running sshd.
type Server struct {
	Address string   // USER@HOST:PORT
	SSH     []string // the ssh command with which it can be reached without questions
	Cache   string   // XDG_CACHE_HOME of sessions
}

// Start starts an sshd that ends with the test. Without one (set-up installs it) the test ends.
func Start(t testing.TB) Server {
	t.Helper()
	sshd := "/usr/sbin/sshd" // which wants to be called by its whole path
	if _, err := os.Stat(sshd); err != nil {
		if sshd, err = exec.LookPath("sshd"); err != nil {
			need.OK(t, fmt.Errorf("no sshd: %w", err))
		}
	}
	need.Tool(t, "ssh")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
			at(key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	if me.Uid == "0" { // where sshd divides its privileges
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	port := free(t)
	s := Server{Address: fmt.Sprintf("%s@127.0.0.1:%d", me.Username, port), Cache: at("cache"),
		SSH: []string{"ssh", "-F", "none", "-i", at("user"), "-o", "IdentitiesOnly=yes", "-o",
			"StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=" + at("known"), "-o", "LogLevel=ERROR"}}
	public, err := os.ReadFile(at("user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nPidFile none\nAuthorizedKeysFile "+
		"%s\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"+
		"PermitRootLogin prohibit-password\nStrictModes no\nUsePAM no\nPermitUserRC no\nSetEnv XDG_CACHE_HOME=%s\n",
		port, at("host"), at("authorized"), s.Cache)
	for name, text := range map[string][]byte{"authorized": public, "config": []byte(config)} {
		if err := os.WriteFile(at(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", at("config"))
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", log.String())
		}
	})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return s
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("sshd does not answer: %v", err)
		}
	}
}

// free is a port that nobody uses.
func free(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
