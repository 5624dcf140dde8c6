package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"ripc/autotune/records"
	"ripc/engine/simulate"
	"ripc/internal/terminal"
	"ripc/targets"
)

const (
	// patience is how long a worker may be silent beyond the time of the measurement, and until it
	// announces itself.
	patience = time.Minute
	// copyTime is how long the worker may take on its way to the machine, over a slow line.
	copyTime = 10 * time.Minute
	// dials is the number of attempts to make a lost connection again. The pause between them
	// begins with firstPause and doubles.
	dials      = 5
	firstPause = time.Second
	// noWorker is the exit code of a machine where the worker is not, or is damaged.
	noWorker = 97
	// lostConnection is ssh's own exit code.
	lostConnection = 255
)

// ssh measures by a worker on a machine with nothing but sshd, where it puts the worker once.
type ssh struct {
	name     string // "ssh:pi@board"
	host     string
	command  []string // reaches the machine
	through  []string
	arch     string
	features []string
	worker   []byte
	hash     string // of worker
	program  []byte // runs the kernels there
	patience time.Duration

	turn    *semaphore.Weighted // of the one job that may use the next fields
	session *session            // nil without a connection
	mu      sync.Mutex
	machine records.Machine
}

func openSSH(ctx context.Context, name, address string, t targets.Target, o Options) (Runner, error) {
	s, err := newSSH(ctx, name, address, t.Arch, t.Features, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newSSH connects.
func newSSH(ctx context.Context, name, address, arch string, features []string, o Options) (*ssh, error) {
	command, host, err := sshCommand(address, o)
	if err != nil {
		return nil, err
	}
	s := &ssh{name: name, host: host, command: command, through: o.Through, arch: arch, features: features,
		patience: cmp.Or(o.patience, patience), turn: semaphore.NewWeighted(1)}
	if s.worker, err = workerProgram(arch); err != nil {
		return nil, err
	}
	s.hash = Hash(s.worker)
	if s.program, err = simulate.Program(ctx, arch); err != nil {
		return nil, err
	}
	if s.session, err = s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// EnvSSH is the environment variable with the command that reaches boards, and its first arguments,
// in the place of ssh.
const EnvSSH = "RIPC_SSH"

// sshAddress is the address in the name of a machine behind ssh. It fails with *NameError.
func sshAddress(name string) (string, error) {
	kind, address, _ := strings.Cut(name, ":")
	if kind != "ssh" || address == "" {
		return "", &NameError{Name: name}
	}
	return address, nil
}

// sshCommand is the command that reaches an address, USER@HOST or USER@HOST:PORT, and the address
// without the port.
func sshCommand(address string, o Options) (command []string, host string, err error) {
	command = o.SSH
	if command == nil {
		command = strings.Fields(cmp.Or(os.Getenv(EnvSSH), "ssh"))
	}
	command = append(command[:len(command):len(command)], "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
		"ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-T")
	host = address
	if h, port, err := net.SplitHostPort(address); err == nil {
		host, command = h, append(command, "-p", port)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_][^\s'"]*$`).MatchString(host) {
		return nil, "", fmt.Errorf("%q is no address; give USER@HOST or USER@HOST:PORT", address)
	}
	for _, word := range o.Through {
		if !regexp.MustCompile(`^[A-Za-z0-9_./=,+-]+$`).MatchString(word) {
			return nil, "", fmt.Errorf("%q cannot be part of a command there", word)
		}
	}
	return append(command, "--", host), host, nil
}

// shortenOutput makes a command's output fit to be shown.
func shortenOutput(out []byte) string { return terminal.Cut(string(bytes.TrimSpace(out)), maxSaid) }

// folder is where workers lie, in the shell's words.
const folder = `d="${XDG_CACHE_HOME:-$HOME/.cache}/ripc"; `

// shell is the command that runs a script, which has no single quotes, on the machine, whatever
// shell its user has.
func shell(ctx context.Context, command []string, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)],
		"sh -c '"+folder+script+"'")...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// opening keeps the first bytes that are written to it, somewhat more than are ever shown.
type opening struct{ text []byte }

func (o *opening) Write(p []byte) (int, error) {
	o.text = append(o.text, p[:min(len(p), max(0, 2*maxSaid-len(o.text)))]...)
	return len(p), nil
}

// session is a connection with a worker that runs.
type session struct {
	*client
	cmd      *exec.Cmd
	in       io.Closer
	messages *opening
	cancel   context.CancelFunc
}

// end ends the worker: as it likes, or, if it does not, by force.
func (s *session) end() error {
	_ = s.in.Close()
	timer := time.AfterFunc(3*time.Second, s.cancel)
	defer timer.Stop()
	err := s.cmd.Wait()
	s.cancel()
	return err
}

// connect starts the worker there, after putting it there if it is not there, or damaged.
func (s *ssh) connect(ctx context.Context) (*session, error) {
	c, err := s.start(ctx)
	if !errors.As(err, new(noWorkerError)) {
		return c, err
	}
	if err := s.install(ctx); err != nil {
		return nil, err
	}
	if c, err = s.start(ctx); errors.As(err, new(noWorkerError)) {
		err = s.unfit(ctx, err)
	}
	return c, err
}

// unfit takes a worker away that was just put there and does not start, and says why, as far as the
// machine there can say that: err is a shell's message about its end.
func (s *ssh) unfit(ctx context.Context, err error) error {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	out, e := shell(limited, s.command, fmt.Sprintf(`rm -f "$d/worker-%s"; rmdir "$d" 2>/dev/null; uname -m`,
		s.hash)).Output()
	machine := strings.TrimSpace(string(out))
	// to the name of an architecture it adds a version
	if e != nil || machine == "" || strings.HasPrefix(machine, s.arch) {
		return err
	}
	return fmt.Errorf("the worker for %s does not start there, where the machine is %.50q: %w", s.arch, machine, err)
}

// noWorkerError says that the worker is not there, or is damaged.
type noWorkerError struct{ error }

// UnreachableError says that ssh does not get to a machine.
type UnreachableError struct {
	Err  error
	Said string // by ssh
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no connection: %v: %s", e.Err, e.Said)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// SilentError says that an answer did not come in time.
type SilentError struct {
	What  string
	After time.Duration
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%s did not come within %v", e.What, e.After)
}

// start starts the worker there.
func (s *ssh) start(ctx context.Context) (*session, error) {
	// No exec: the end by a signal is told from a lost connection by the shell's own exit code.
	run := strings.Join(append(append(slices.Clone(s.through), `"$w"`), s.through...), " ")
	script := fmt.Sprintf(`w="$d/worker-%s"; test -x "$w" || exit %d; %s || exit %d`, s.hash, noWorker, run, noWorker)
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cmd := shell(life, s.command, script)
	c := &session{cmd: cmd, messages: new(opening), cancel: cancel}
	cmd.Stderr = c.messages
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	c.in = in
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	stop := context.AfterFunc(ctx, cancel)
	var late atomic.Bool
	timer := time.AfterFunc(s.patience, func() { late.Store(true); cancel() })
	c.client, err = newClient(out, in)
	timer.Stop()
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		end := c.end()
		switch {
		case ctx.Err() != nil:
			return nil, err
		case late.Load():
			return nil, &SilentError{What: "the worker's greeting", After: s.patience}
		}
		text := shortenOutput(c.messages.text)
		var exit *exec.ExitError
		if errors.As(end, &exit) && exit.ExitCode() == lostConnection {
			return nil, &UnreachableError{Err: end, Said: text}
		}
		// a damaged one ends in any way
		return nil, noWorkerError{fmt.Errorf("the worker does not start: %w: %s", err, text)}
	}
	if c.worker.Version != s.hash {
		_ = c.end()
		return nil, noWorkerError{errors.New("the worker there is not the one that was put there")}
	}
	if err := c.worker.suits(s.arch, s.features); err != nil {
		_ = c.end()
		return nil, err
	}
	s.mu.Lock()
	s.machine = records.Machine{CPU: c.worker.CPU, Host: s.host}
	s.mu.Unlock()
	return c, nil
}

// install puts the worker there, whole or not at all.
func (s *ssh) install(ctx context.Context) error {
	script := fmt.Sprintf(`umask 077; t="$d/.worker-%s.$$"; mkdir -p "$d" && cat > "$t" && test "$(wc -c < "$t")" -eq %d && chmod 700 "$t" && mv -f "$t" "$d/worker-%s" || { rm -f "$t"; exit 1; }`,
		s.hash, len(s.worker), s.hash)
	err := runScript(ctx, s.command, script, s.worker, SilentError{What: "the end of the copy", After: copyTime})
	if err != nil {
		return joinInterrupt(ctx, fmt.Errorf("the worker cannot be put there: %w", err))
	}
	return nil
}

// runScript runs a script there, which reads in. It fails with late where it does not end in time.
func runScript(ctx context.Context, command []string, script string, in []byte, late SilentError) error {
	limited, cancel := context.WithTimeout(ctx, late.After)
	defer cancel()
	cmd := shell(limited, command, script)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() == nil && limited.Err() != nil {
		err = &late
	}
	return fmt.Errorf("%w: %s", err, shortenOutput(out))
}

// Remove removes the files that Open has put on the machine that ssh:USER@HOST names.
func Remove(ctx context.Context, name string, o Options) error {
	address, err := sshAddress(name)
	if err != nil {
		return err
	}
	command, _, err := sshCommand(address, o)
	if err == nil {
		const script = `rm -f "$d"/worker-* "$d"/.worker-*; rmdir "$d" 2>/dev/null; test -z "$(ls "$d"/worker-* 2>/dev/null)"`
		err = runScript(ctx, command, script, nil, SilentError{What: "the answer", After: patience})
	}
	if err != nil {
		return &LostError{Runner: name, Err: joinInterrupt(ctx, err)}
	}
	return nil
}

func (s *ssh) Machine() records.Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine
}

func (s *ssh) Unit() records.Unit { return records.Nanoseconds }
func (s *ssh) Here() bool         { return false }
func (s *ssh) Slots() int         { return 1 }

// Close ends the worker, and leaves it where it is for the next time.
func (s *ssh) Close() error {
	if err := s.turn.Acquire(context.Background(), 1); err != nil {
		return err
	}
	defer s.turn.Release(1)
	s.drop()
	return nil
}

// drop ends the connection, if there is one.
func (s *ssh) drop() {
	if s.session != nil {
		_ = s.session.end() // it is of no more use, however it ends
		s.session = nil
	}
}

func (s *ssh) Measure(ctx context.Context, j Job) (Result, error) {
	j.Program = s.program
	limit := j.Settings.fillIn(Defaults()).Limit
	var r Result
	err := s.with(ctx, limit, func(c *client) (err error) {
		r, err = c.measure(j)
		return err
	})
	if errors.Is(err, errSilent) {
		return answerFailure(ctx, Result{ID: j.ID, Machine: s.Machine()}, errSilent, Settings{Limit: limit})
	}
	r.Machine.Host = s.host
	return r, err
}

// errSilent says that a worker did not answer in time.
var errSilent = errors.New("no answer")

// with lets do use the connection, which is made again if it is lost, and do with it. do may take
// limit.
func (s *ssh) with(ctx context.Context, limit time.Duration, do func(*client) error) error {
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.turn.Release(1)
	var err error
	for range 2 {
		if err = s.reconnect(ctx); err != nil {
			break
		}
		err = s.session.use(ctx, limit+s.patience, do)
		if err == nil || errors.As(err, new(*WorkerError)) || errors.As(err, new(blame)) {
			return err
		}
		s.drop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errSilent) {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &LostError{Runner: s.name, Err: err}
}

// reconnect makes the connection if there is none, in several attempts.
func (s *ssh) reconnect(ctx context.Context) error {
	var err error
	for k := 0; s.session == nil; k++ {
		if k == dials {
			return err
		}
		if k > 0 {
			if pause(ctx, firstPause<<(k-1)); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		s.session, err = s.connect(ctx)
		if silent := (*SilentError)(nil); errors.As(err, &silent) { // a pause was waited for already
			return err
		}
	}
	return nil
}

// use lets do use the session, which ends if that takes longer than limit, or with ctx.
func (s *session) use(ctx context.Context, limit time.Duration, do func(*client) error) error {
	done := make(chan error, 1)
	go func() { done <- do(s.client) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		s.cancel()
		<-done
		return ctx.Err()
	case <-timer.C:
		s.cancel()
		<-done
		return errSilent
	}
}
