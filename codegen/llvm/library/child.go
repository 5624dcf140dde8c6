package library

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The messages between a process and its children: an order, then texts of LLVM IR, each answered.
type (
	// order configures a child.
	order struct {
		File, Version string
		Settings
	}
	// answer is the object, or the obstacle. The answer to an order is empty if all is well.
	answer struct {
		Object []byte
		Err    string
	}
)

// Children are recognized by a variable and their own name. Either alone may have another origin,
// and a program that is no child would silently wait for an order.
const (
	variable = "RIPC_LLVM_CHILD"
	name     = "ripc-llvm"
)

// isChild reports whether this process was started by start.
func isChild() bool { return os.Getenv(variable) != "" && len(os.Args) == 1 && os.Args[0] == name }

// self is the running program itself, even if its file was replaced since.
const self = "/proc/self/exe"

// child is a process that compiles, seen from the one that started it, which one goroutine at a
// time uses.
type child struct {
	key      string
	cmd      *exec.Cmd
	requests *os.File
	answers  *os.File
	to       *gob.Encoder
	from     *gob.Decoder
	compiled int
	broken   error       // why it cannot be used any more
	waiting  *time.Timer // ends it
}

// start starts a child and waits until it can compile.
func start(ctx context.Context, o order) (*child, error) {
	if err := isProgram(); err != nil {
		return nil, err
	}
	theirs, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, results, err := os.Pipe()
	if err != nil {
		theirs.Close()
		requests.Close()
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args = []string{name}
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stdin, cmd.ExtraFiles = theirs, []*os.File{results} // libraries may print to standard output
	c := &child{cmd: cmd, requests: requests, answers: answers, to: gob.NewEncoder(requests),
		from: gob.NewDecoder(answers)}
	err = cmd.Start()
	theirs.Close()
	results.Close() // before anything is read: the end of the child is to be seen
	if err != nil {
		requests.Close()
		answers.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, beginning, fmt.Errorf("it does not begin within %v", beginning))
	defer cancel()
	if a, err := c.ask(ctx, o); err != nil || a.Err != "" {
		c.end()
		return nil, errors.Join(err, errors.New(a.Err))
	}
	return c, nil
}

// module returns the path of the module that this package is of.
func module() string {
	return strings.TrimSuffix(reflect.TypeFor[Library]().PkgPath(), "/codegen/llvm/library")
}

// isProgram fails if this process is not a Go program of its own, and so must not be started once
// more. It may be a library for C, or a plugin, which sees the build information of the program
// that loaded it.
func isProgram() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this is no program of Go")
	}
	mode := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-buildmode" && (s.Value == "exe" || s.Value == "pie")
	})
	has := info.Main.Path == module() || slices.ContainsFunc(info.Deps, func(m *debug.Module) bool {
		return m.Path == module()
	})
	if mode < 0 || !has {
		return errors.New("ripc is no part of the program itself")
	}
	return nil
}

// compile lets the child make an object of LLVM IR, in at most limit.
func (c *child) compile(ctx context.Context, limit time.Duration, ll []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it gives no object within %v", limit))
	defer cancel()
	a, err := c.ask(ctx, ll)
	if err != nil {
		return nil, err
	}
	c.compiled++
	if a.Err != "" {
		return nil, errors.New(a.Err)
	}
	return a.Object, nil
}

// ask sends a message by gob and waits for the answer; the end of ctx ends the child.
func (c *child) ask(ctx context.Context, what any) (answer, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	defer stop()
	var a answer
	err := c.to.Encode(what)
	if err == nil {
		err = c.from.Decode(&a)
	}
	if err != nil {
		c.broken = fmt.Errorf("LLVM's library has ended its process: %w", cmp.Or(context.Cause(ctx), err))
	}
	return a, c.broken
}

// end ends the child, whatever it does.
func (c *child) end() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	c.requests.Close()
	c.answers.Close()
	go func() { _ = c.cmd.Wait() }()
}
