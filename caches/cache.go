// Package caches keeps results from one run of ripc to the next, in folders of the user, under keys
// that name their contents.
package caches

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ripc/internal/files"
)

// Env is the environment variable with the folder of the caches; without it they are in
// ~/.cache/ripc.
const Env = "RIPC_CACHE_DIR"

// DefaultLimit is the size, in bytes, beyond which the default cache drops the entries that were
// unused for longest.
const DefaultLimit = 1 << 30

// magic starts every cache file; change it when the layout changes. After it come a SHA-256 (32
// bytes), see checksum, and the content.
const magic = "ripc cache 2\n"

// checksum is of the content with its key, so that a file that has got under another name is not
// believed either.
func checksum(key string, data []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write(data)
	return [sha256.Size]byte(h.Sum(nil))
}

// Cache is a folder of results under keys that name their content. Any number of goroutines and
// processes may use one folder: a file appears by renaming, never half written, and one that is
// damaged counts as absent. Its files are executed, and a checksum tells damage but not intent: so
// nobody else may write to the folder. A nil *Cache holds nothing.
type Cache struct {
	dir   string
	limit int64

	mu      sync.Mutex
	stats   Stats
	written int64 // bytes since the last sweep by this Cache
}

// Stats counts a Cache's work since it was opened.
type Stats struct {
	Hits, Misses int
	Damaged      int   // files that were dropped because their checksum was wrong
	WriteErr     error // the last failure to store; compiling goes on without the cache
}

// FolderError says that a cache's folder is not safe: others could put code there that this user
// would run.
type FolderError struct {
	Dir     string
	Writers string // who can write to it, e.g. "it belongs to user 1001"
}

// Error names the folder, who can write to it, and the way out.
func (e *FolderError) Error() string {
	return fmt.Sprintf("cache folder %s is not safe: %s; delete it, or set %s to a folder of your own",
		e.Dir, e.Writers, Env)
}

// Open uses dir, creating it for this user alone if needed, and keeps it below limit bytes (about:
// a sweep comes when a sixteenth of limit has been written). It fails with *FolderError if others
// can write to dir.
func Open(dir string, limit int64) (*Cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("cache folder %s: limit of %d bytes; it must be positive", dir, limit)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache folder: %w (set %s to a writable folder)", err, Env)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	if w := writers(info); w != "" {
		return nil, &FolderError{Dir: dir, Writers: w}
	}
	return &Cache{dir: dir, limit: limit}, nil
}

// intruders says who but user me and root can write to a folder of the given owner, group and mode;
// "" means nobody. A group with the owner's number is the owner's own: many systems make one for
// each user, and let it write.
func intruders(owner, group uint32, mode fs.FileMode, me int) string {
	switch {
	case int(owner) != me && owner != 0:
		return fmt.Sprintf("it belongs to user %d", owner)
	case mode&0o002 != 0:
		return "everybody can write to it"
	case mode&0o020 != 0 && int(group) != me:
		return fmt.Sprintf("group %d can write to it", group)
	}
	return ""
}

// Root is where all of ripc's caches are: $RIPC_CACHE_DIR or, without that, the folder ripc of the
// user's cache folder. It fails for a user who has neither.
func Root() (string, error) {
	if dir := os.Getenv(Env); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	return filepath.Join(base, "ripc"), err
}

// OfUser opens the folder called name in $RIPC_CACHE_DIR or, without that, in the folder ripc of
// the user's cache folder, with DefaultLimit. A user who has neither, as without HOME in a
// container or under cron, gets nil: there is no other place that is certainly the user's own, and
// without a cache everything works but takes its time. So it does where the folder cannot be made,
// on a read-only system say. It fails with *FolderError where the folder is not safe.
func OfUser(name string) (*Cache, error) {
	dir, err := Root()
	if err != nil {
		return nil, nil
	}
	c, err := Open(filepath.Join(dir, name), DefaultLimit)
	if unsafe := (*FolderError)(nil); err != nil && !errors.As(err, &unsafe) {
		return nil, nil
	}
	return c, err
}

// Dir is the folder; "" of nil.
func (c *Cache) Dir() string {
	if c == nil {
		return ""
	}
	return c.dir
}

// Objects is the user's cache of compiled modules.
func Objects() (*Cache, error) { return OfUser("objects") }

// Key returns a name for whatever is computed from parts. Where one part ends and the next begins
// matters.
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

// Get returns the content stored under key, a name that Key made.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	file := c.path(key)
	raw, err := read(file)
	data, whole := open(key, raw)
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

// read reads a cache file, unless something else lies in its place.
func read(file string) ([]byte, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// open returns the content of the cache file of key, and whether it is whole.
func open(key string, raw []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	data := rest[sha256.Size:]
	return data, checksum(key, data) == [sha256.Size]byte(rest)
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
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), tempPattern)
	if err != nil {
		return err
	}
	sum := checksum(key, data)
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
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
