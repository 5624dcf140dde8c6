package hub_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"ripc/autotune/runner"
)

// dial connects with a key as any client of NATS could, without what package runner does.
func dial(url string, k runner.FleetKey, more ...nats.Option) (*nats.Conn, error) {
	pair, err := nkeys.FromSeed(k.Seed)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Connect(url, append(more, nats.Nkey(public, pair.Sign), nats.Secure(&tls.Config{InsecureSkipVerify: true}), nats.MaxReconnects(0), nats.Timeout(5*time.Second))...)
}

// connect dials; what the hub refuses goes to refused.
func connect(t *testing.T, url string, k runner.FleetKey, refused chan<- error) *nats.Conn {
	t.Helper()
	nc, err := dial(url, k, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
