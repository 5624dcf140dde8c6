package tuner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"golang.org/x/sync/errgroup"

	"ripc/autotune/space"
	"ripc/lab/figures"
	"ripc/lab/meter"
)

// costs are the costs of a layer's candidates, kept in a store: all searches are told the same, and
// an interrupted comparison goes on. 0 is the cost of a candidate that cannot be built.
type costs struct {
	*layer
	*meter.Meter

	mu    sync.Mutex
	store *figures.Store
}

// keyOf names a candidate of one layer.
func keyOf(c space.Candidate) string {
	sum := sha256.Sum256([]byte(c.Key()))
	return hex.EncodeToString(sum[:8])
}

// costAll returns the costs of candidates.
func (c *costs) costAll(ctx context.Context, xs ...space.Candidate) ([]float64, error) {
	out := make([]float64, len(xs))
	var all errgroup.Group
	all.SetLimit(c.Slots())
	for i, x := range xs {
		all.Go(func() (err error) {
			out[i], err = c.cost(ctx, x)
			return err
		})
	}
	return out, all.Wait()
}

// cost returns the cost of a candidate.
func (c *costs) cost(ctx context.Context, x space.Candidate) (float64, error) {
	key := figures.Key{Subject: c.Name, Variant: keyOf(x)}
	c.mu.Lock()
	known := c.store.Find(key)
	c.mu.Unlock()
	if known != nil {
		return known.Values["cost"], nil
	}
	cost, err := c.Cost(ctx, c.space.Task, x)
	if err != nil && meter.Ends(ctx, err) {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cost, c.store.Append(figures.Figure{Task: "tuner", Key: key, Values: map[string]float64{"cost": cost}})
}
