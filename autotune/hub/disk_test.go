package hub_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"ripc/autotune/runner"
)

// TestSmallDisk: a server that may keep little holds a fleet all the same, and one that may keep nearly nothing is refused.
func TestSmallDisk(t *testing.T) {
	for _, c := range []struct {
		most int64
		ok   bool
	}{{400 << 20, true}, {1 << 20, false}} {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true,
			JetStreamMaxStore: c.most, StoreDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("the server does not start")
		}
		_, js := jetStream(t, s.ClientURL())
		if err := runner.SetUpFleet(t.Context(), js); (err == nil) != c.ok {
			t.Errorf("with %d bytes: %v", c.most, err)
		}
	}
}
