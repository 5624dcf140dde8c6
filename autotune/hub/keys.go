package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"ripc/autotune/runner"
	"ripc/internal/files"
)

// Role is the rights of a key.
type Role string

// The roles.
const (
	Worker Role = "worker" // pull jobs and answer
	Tuner  Role = "tuner"  // all
)

// Key is one that a hub lets in.
type Key struct {
	Role   Role
	Public string
	Name   string // for people
}

// keysFile, in a hub's folder, has a line "ROLE PUBLIC NAME" for each key. Who takes a line out
// locks the key's holder out.
const keysFile = "keys"

// Keys lists those of the hub in folder dir, in the order in which they were made.
func Keys(dir string) ([]Key, error) { return readKeys(filepath.Join(dir, keysFile)) }

func readKeys(path string) ([]Key, error) {
	all, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Key
	for n, text := range strings.Split(string(all), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		part := append(strings.SplitN(text, " ", 3), "", "")
		k := Key{Role: Role(part[0]), Public: part[1], Name: part[2]}
		if k.Role != Worker && k.Role != Tuner || !nkeys.IsValidPublicUserKey(k.Public) {
			return nil, fmt.Errorf("%s:%d: is not \"worker KEY NAME\" or \"tuner KEY NAME\"", path, n+1)
		}
		list = append(list, k)
	}
	return list, nil
}

// NewKey makes a key for the hub in dir, and the hub's certificate if it has none, and writes the
// key's file, which is a secret, to path. A hub that runs and has keys knows it at once; one that
// has none has to be started again.
func NewKey(dir string, role Role, name, path string) (Key, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Key{}, err
	}
	cert, err := certificate(dir)
	if err != nil {
		return Key{}, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Key{}, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return Key{}, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return Key{}, err
	}
	k := Key{Role: role, Public: public, Name: strings.Join(strings.Fields(name), " ")}
	if err := create(path, runner.FleetKey{Seed: seed, Certificate: cert.Certificate[0]}.Encode()); err != nil {
		return Key{}, err
	}
	list, err := os.OpenFile(filepath.Join(dir, keysFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return Key{}, err
	}
	_, err = fmt.Fprintf(list, "%s %s %s\n", k.Role, k.Public, k.Name)
	return k, errors.Join(err, list.Close())
}

// create writes a secret to a file that must not be there.
func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// checkSignature fails unless sig is the nonce's signature by key, as clients of NATS send it.
func checkSignature(key, sig string, nonce []byte) error {
	if key == "" {
		return errors.New("it has no key")
	}
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		return errors.New("its signature cannot be read")
	}
	pair, err := nkeys.FromPublicKey(key)
	if err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	if err := pair.Verify(nonce, raw); err != nil {
		return fmt.Errorf("key %s: %w", key, err)
	}
	return nil
}

// certFile is the file of the hub's certificate and its private key.
const certFile = "hub.pem"

// certificate is that of the hub in dir, which is made if there is none. It lasts for good: the
// holder of a key trusts this very certificate, and it is for nothing else.
func certificate(dir string) (tls.Certificate, error) {
	path := filepath.Join(dir, certFile)
	c, err := tls.LoadX509KeyPair(path, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return c, err
	}
	t := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "ripc hub"}, NotBefore: time.Unix(0, 0),
		NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"ripc-hub"},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &private.PublicKey, private)
	if err != nil {
		return c, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return c, err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := files.Replace(path, text, 0o600); err != nil {
		return c, err
	}
	return tls.X509KeyPair(text, text)
}
