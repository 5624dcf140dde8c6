// Package hub is the server of a fleet: NATS with JetStream in this process, between tuners that
// ask for measurements and workers that make them (package runner has the messages).
package hub

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"ripc/autotune/runner"
	"ripc/internal/terminal"
)

// Options of a hub.
type Options struct {
	// Listen is HOST:PORT; port 0 is any free one.
	Listen string
	// Dir keeps jobs, results and keys.
	Dir string
	// Log is told the events; nil is nobody.
	Log func(text string)
}

// OpenHubError says that a hub would let anyone in who reaches it: who may ask for measurements
// runs code on the workers.
type OpenHubError struct{ Listen string }

func (e *OpenHubError) Error() string {
	return "a hub without keys lets anyone run code on its workers, so it listens on this machine alone and not on " +
		e.Listen
}

// BadInput reports that the input is at fault.
func (*OpenHubError) BadInput() bool { return true }

// Hub is a running server.
type Hub struct {
	server *server.Server
	auth   *auth
	nc     *nats.Conn // its own, as a tuner
}

// ready is how long a server may take to begin.
const ready = 30 * time.Second

// Start starts a hub and sets up a fleet in it. If there are keys (NewKey), only those who have one
// get in, by TLS. It fails with *OpenHubError if there are none and it is to listen beyond this
// machine.
func Start(ctx context.Context, o Options) (*Hub, error) {
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %s: %w", port, err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	own, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	public, err := own.PublicKey()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	h := &Hub{auth: &auth{file: filepath.Join(o.Dir, keysFile), own: public, rests: map[string]time.Time{}, log: o.Log}}
	keys, err := readKeys(h.auth.file)
	if err != nil {
		return nil, err
	}
	h.auth.closed = len(keys) > 0
	so := &server.Options{
		ServerName: "ripc-" + rand.Text()[:8], Host: host, Port: int(number), NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: filepath.Join(o.Dir, "jetstream"),
		CustomClientAuthentication: h.auth, AlwaysEnableNonce: true, MaxPayload: 1 << 20,
	}
	if number == 0 {
		so.Port = server.RANDOM_PORT
	}
	if h.auth.closed {
		cert, err := certificate(o.Dir)
		if err != nil {
			return nil, err
		}
		so.TLS, so.TLSTimeout = true, 5
		so.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
	} else if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &OpenHubError{Listen: o.Listen}
	}
	if h.server, err = server.NewServer(so); err != nil {
		return nil, err
	}
	if err := h.auth.rooms.open(h.server); err != nil {
		return nil, err
	}
	h.server.Start()
	if !h.server.ReadyForConnections(ready) {
		h.server.Shutdown()
		return nil, fmt.Errorf("the server does not listen on %s", o.Listen)
	}
	if err := h.setUp(ctx, own, public); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// maxReason bounds a tuner's text that is shown, in bytes.
const maxReason = 500

// setUp makes the streams, and listens to tuners that tell a worker to rest: the hub sees to it
// that it does.
func (h *Hub) setUp(ctx context.Context, own nkeys.KeyPair, public string) error {
	o := []nats.Option{nats.InProcessServer(h.server), nats.Name("hub"), nats.Nkey(public, own.Sign)}
	var err error
	if h.nc, err = nats.Connect("", o...); err != nil {
		return err
	}
	js, err := jetstream.New(h.nc)
	if err != nil {
		return err
	}
	if err := runner.SetUpFleet(ctx, js); err != nil {
		return err
	}
	_, err = h.nc.Subscribe(runner.RestSubject, func(m *nats.Msg) {
		worker := runner.RestedWorker(m.Subject)
		h.auth.log(fmt.Sprintf("worker %s is to rest: %s", worker, terminal.Cut(string(m.Data), maxReason)))
		h.auth.beginRest(worker)
		h.disconnect(worker)
	})
	return err
}

// disconnect ends the connections of a key's holder. The holder comes back, and is let in when it
// has rested.
func (h *Hub) disconnect(public string) {
	if !h.auth.closed {
		return // names are unchecked
	}
	all, err := h.server.Connz(&server.ConnzOptions{Username: true, User: public})
	if err != nil {
		return
	}
	for _, c := range all.Conns {
		_ = h.server.DisconnectClientByID(c.Cid)
	}
}

// URL is the address for tuners and workers on this machine.
func (h *Hub) URL() string { return strings.Replace(h.server.ClientURL(), "tls://", "nats://", 1) }

// Close ends the server; its contents are there when it is started again.
func (h *Hub) Close() error {
	if h.nc != nil {
		h.nc.Close()
	}
	h.server.Shutdown()
	h.server.WaitForShutdown()
	return nil
}

// Done is closed when the server ended by itself.
func (h *Hub) Done() <-chan struct{} {
	c := make(chan struct{})
	go func() { h.server.WaitForShutdown(); close(c) }()
	return c
}

// auth lets in the holders of the keys in a file. The file is read for each connection, so that a
// key that is added or taken out counts at once.
type auth struct {
	file   string
	closed bool   // there were keys at the start
	own    string // the hub's own
	log    func(string)
	rooms  rooms

	mu    sync.Mutex
	rests map[string]time.Time // workers, until when
}

func (a *auth) beginRest(worker string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rests[worker] = time.Now().Add(runner.Resting)
}

// Check implements server.Authentication.
func (a *auth) Check(c server.ClientAuthentication) bool {
	err := a.check(c)
	if err == nil {
		return true
	}
	if err != errRests { // which was said when it was told to, and it tries on and on
		a.log(fmt.Sprintf("%v is not let in: %v", c.RemoteAddress(), err))
	}
	return false
}

// errRests says that a worker has to rest.
var errRests = errors.New("it was told to rest")

func (a *auth) check(c server.ClientAuthentication) error {
	if c.Kind() != server.CLIENT {
		return errors.New("it is no client")
	}
	o := c.GetOpts()
	if o.Nkey == "" && !a.closed {
		return nil
	}
	if err := checkSignature(o.Nkey, o.Sig, c.GetNonce()); err != nil {
		return err
	}
	user := &server.User{Username: o.Nkey}
	if o.Nkey != a.own {
		keys, err := readKeys(a.file)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(keys, func(k Key) bool { return k.Public == o.Nkey })
		if at < 0 {
			return fmt.Errorf("key %s is not one of this hub's", o.Nkey)
		}
		a.mu.Lock()
		until := a.rests[o.Nkey]
		a.mu.Unlock()
		if time.Now().Before(until) {
			return errRests
		}
		if keys[at].Role == Worker {
			r := runner.WorkerRights(o.Nkey)
			if user.Account, err = a.rooms.find(o.Nkey, r); err != nil {
				return err
			}
			user.Permissions = &server.Permissions{Publish: &server.SubjectPermission{Allow: r.Publish},
				Subscribe: &server.SubjectPermission{Allow: r.Subscribe}}
		}
	}
	c.RegisterUser(user)
	return nil
}
