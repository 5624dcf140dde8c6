package runner

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"ripc/internal/files"
)

// FleetKey lets a tuner or a worker into a fleet, and lets it know the hub.
type FleetKey struct {
	// Seed is an nkey's secret (SU...).
	Seed []byte
	// Certificate is the one that the hub has to show, in DER; nil of a hub without TLS.
	Certificate []byte
}

// The blocks of a key's file, in PEM.
const (
	pemSeed        = "NKEY USER SEED"
	pemCertificate = "CERTIFICATE"
)

// Encode gives the file that ReadFleetKey reads.
func (k FleetKey) Encode() []byte {
	text := pem.EncodeToMemory(&pem.Block{Type: pemSeed, Bytes: k.Seed})
	if k.Certificate != nil {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: k.Certificate})...)
	}
	return text
}

// KeyError says why a file cannot be the key of a fleet.
type KeyError struct {
	Path string
	Err  error
}

func (e *KeyError) Error() string { return "key " + e.Path + ": " + e.Err.Error() }

// BadInput reports that the input is at fault.
func (*KeyError) BadInput() bool { return true }

// Unwrap gives the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// ReadFleetKey reads a file that Encode made. It fails with *KeyError.
func ReadFleetKey(path string) (FleetKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return FleetKey{}, &KeyError{path, files.Cause(err)}
	}
	var k FleetKey
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		switch b.Type {
		case pemSeed:
			k.Seed = b.Bytes
		case pemCertificate:
			k.Certificate = b.Bytes
		}
	}
	if k.Seed == nil {
		return FleetKey{}, &KeyError{path, errors.New("there is no " + pemSeed + " in it")}
	}
	if _, _, err := k.options(); err != nil {
		return FleetKey{}, &KeyError{path, err}
	}
	return k, nil
}

// options are those of a connection as the one who has the key, and public is the key by which the
// hub knows who that is. The hub must show the very certificate that the key has, whatever names
// and dates are in it: who made the key trusts that one and no authority.
func (k FleetKey) options() (public string, o []nats.Option, err error) {
	pair, err := nkeys.FromSeed(k.Seed)
	if err == nil {
		public, err = pair.PublicKey()
	}
	if err != nil {
		return "", nil, err
	}
	o = append(o, nats.Nkey(public, pair.Sign))
	if k.Certificate != nil {
		o = append(o, nats.Secure(&tls.Config{
			MinVersion:         tls.VersionTLS13,
			InsecureSkipVerify: true, // VerifyConnection does it
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, k.Certificate) {
					return errors.New("the hub does not show the certificate that the key was made with")
				}
				return nil
			},
		}))
	}
	return public, o, nil
}

// connect connects to the hub, and again whenever it was lost, for ever. id is who this is: the
// key, or, without one, anyone.
func (f Fleet) connect(more ...nats.Option) (nc *nats.Conn, id string, err error) {
	id = rand.Text()
	o := []nats.Option{
		nats.Name("ripc"), nats.MaxReconnects(-1), nats.ReconnectWait(f.reconnect()),
		nats.ReconnectJitter(f.reconnect()/2, f.reconnect()/2),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
		nats.Timeout(5 * time.Second),
	}
	if f.Key != "" {
		k, err := ReadFleetKey(f.Key)
		if err != nil {
			return nil, "", err
		}
		public, own, err := k.options()
		if err != nil {
			return nil, "", err
		}
		id, o = public, append(o, own...)
	}
	o = append(o, nats.CustomInboxPrefix(subjectInbox+id))
	nc, err = nats.Connect(f.URL, append(o, more...)...)
	return nc, id, err
}
