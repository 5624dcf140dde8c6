package toolchain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// EnvCache names the environment variable that moves the cache.
const EnvCache = "RIPC_CACHE_DIR"

// DefaultLimit is the size beyond which the default cache forgets what was not used for longest, in bytes.
const DefaultLimit = 1 << 30

// magic starts every cache file; change it when the layout changes. After it come the SHA-256 of the content (32
// bytes) and the content.
const magic = "ripc cache 1\n"

// Cache is a folder of results under keys that name their content. Any number of goroutines and processes may use one
// folder: a file appears by renaming, never half written, and one that is damaged counts as absent. A nil *Cache
// holds nothing.
type Cache struct {
	dir   string
	limit int64

	mu      sync.Mutex
	stats   Stats
	written int64 // bytes since the last sweep by this Cache
}

// Stats counts what a Cache did since it was opened.
type Stats struct {
	Hits, Misses int
	Damaged      int   // files that were dropped because their checksum was wrong
	WriteErr     error // the last failure to store; compiling goes on without the cache
}

// OpenCache uses dir, creating it if needed, and keeps it below limit bytes (about: a sweep comes when a sixteenth of
// limit has been written).
func OpenCache(dir string, limit int64) (*Cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("object cache %s: limit of %d bytes; it must be positive", dir, limit)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("object cache: %w (set %s to a writable folder)", err, EnvCache)
	}
	return &Cache{dir: dir, limit: limit}, nil
}

// DefaultDir returns $RIPC_CACHE_DIR, or the folder "ripc" in the user's cache folder.
func DefaultDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("object cache: %w (set %s to a writable folder)", err, EnvCache)
	}
	return filepath.Join(base, "ripc"), nil
}

// DefaultCache opens the folder "objects" in DefaultDir with DefaultLimit.
func DefaultCache() (*Cache, error) {
	dir, err := DefaultDir()
	if err != nil {
		return nil, err
	}
	return OpenCache(filepath.Join(dir, "objects"), DefaultLimit)
}

// Key returns a name for whatever is computed from parts. Where one part ends and the next begins matters.
func Key(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// path returns the file of key. Two levels keep folders short.
func (c *Cache) path(key string) string { return filepath.Join(c.dir, key[:2], key[2:]) }

// Get returns what is stored under key, a name that Key made.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	file := c.path(key)
	raw, err := os.ReadFile(file)
	data, whole := open(raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.stats.Misses++
		return nil, false
	case !whole:
		c.stats.Misses++
		c.stats.Damaged++
		os.Remove(file)
		return nil, false
	}
	c.stats.Hits++
	now := time.Now()
	os.Chtimes(file, now, now) // the sweep drops the oldest; a failure only makes this entry look unused
	return data, true
}

// open returns the content of a cache file, and whether it is whole.
func open(raw []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	data := rest[sha256.Size:]
	return data, sha256.Sum256(data) == [sha256.Size]byte(rest)
}

// Put stores data under key. A failure shows in Stats only: the caller has its result already.
func (c *Cache) Put(key string, data []byte) {
	if c == nil {
		return
	}
	err := c.write(key, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.stats.WriteErr = err
		return
	}
	c.written += int64(len(data))
	if c.written >= c.limit/16 || c.stale() {
		c.written = 0
		if err := c.sweep(); err != nil {
			c.stats.WriteErr = err
		}
	}
}

func (c *Cache) write(key string, data []byte) error {
	file := c.path(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), tempPattern)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	for _, part := range [][]byte{[]byte(magic), sum[:], data} {
		if _, err = tmp.Write(part); err != nil {
			break
		}
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("object cache: %w", err)
	}
	return nil
}

// Stats returns what the cache did so far.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
