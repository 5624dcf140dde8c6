package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ripc/internal/lists"
	"ripc/targets"
)

// Options say how a runner is reached. The zero value is fine.
type Options struct {
	// Through is a command and its first arguments that runs programs of the machine that measures,
	// where its system cannot.
	Through []string
	// SSH is the command and its first arguments that stands for ssh; nil is $RIPC_SSH, or ssh.
	SSH []string
	// Key is the path of the key that lets into a fleet's hub (Fleet.Key).
	Key string
	// Log is told the events of a connection; nil is nobody.
	Log func(text string)

	patience time.Duration // for tests; 0 is the constant
}

// Open makes the runner called name ready to measure kernels for a target:
//
//	local    on this machine, each candidate in a process of its own
//	qemu     simulated here; costs are estimated cycles or instructions
//	board    a board without an operating system, simulated here; costs are instructions
//	wasm     modules of WebAssembly, by a virtual machine in this process
//	device   kernels, on the first device that a driver offers for the target
//	ssh:A    on the machine at A, USER@HOST or USER@HOST:PORT, which has nothing but sshd
//	nats://  on the workers of a hub
//
// It fails with *NameError, or with *LostError if it cannot be made ready.
func Open(ctx context.Context, name string, t targets.Target, o Options) (Runner, error) {
	kind, rest, _ := strings.Cut(name, ":")
	for _, k := range kinds() {
		if k.name == kind && k.address == (rest != "") {
			err := k.accepts(t)
			var r Runner
			if names := Accepting(t); err != nil && len(names) > 0 {
				err = fmt.Errorf("%w; the runners that measure kernels for it are %s", err, strings.Join(names, ", "))
			}
			if err == nil {
				r, err = k.open(ctx, name, rest, t, o)
			}
			if err != nil {
				return nil, &LostError{Runner: name, Err: err}
			}
			return r, nil
		}
	}
	return nil, &NameError{Name: name}
}

// kind is one way to reach a machine.
type kind struct {
	name    string
	address bool   // a colon and an address follow the name
	usage   string // for people
	accepts func(t targets.Target) error
	open    func(ctx context.Context, name, address string, t targets.Target, o Options) (Runner, error)
}

func kinds() []kind {
	return []kind{
		{"local", false, "local", acceptsLocal, openLocal},
		{"qemu", false, "qemu", acceptsSimulated, openQemu},
		{"board", false, "board", acceptsBare, openBare},
		{"wasm", false, "wasm", acceptsSandboxed, openSandboxed},
		{"device", false, "device", acceptsDevice, openDevice},
		{"ssh", true, "ssh:USER@HOST[:PORT]", acceptsAll, openSSH},
		{"nats", true, "nats://HOST[:PORT]", acceptsAll, openFleet},
	}
}

func acceptsAll(targets.Target) error { return nil }

// Accepting lists the runners without an address that measure kernels for a target.
func Accepting(t targets.Target) []string {
	var names []string
	for _, k := range kinds() {
		if !k.address && k.accepts(t) == nil {
			names = append(names, k.name)
		}
	}
	return names
}

// Names lists the names that Open takes, for people.
func Names() []string {
	return lists.Map(kinds(), func(k kind) string { return k.usage })
}

// NameError says that no runner is called so.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("no runner is called %q", e.Name)
}

// BadInput reports that the input is at fault.
func (*NameError) BadInput() bool { return true }
