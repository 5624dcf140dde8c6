// Package ledger keeps the estimated cycles of networks and of drawn layers on simulated boards: of
// each layer the newest cycles, the fewest ever, and the cycles at the limit of the core. A rise
// above the fewest fails until somebody accepts it with a reason.
package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"ripc/internal/stop"
	"ripc/lab/figures"
)

const (
	file = "docs/ledger.json"
	page = "docs/ledger.md"
	// format is the first line of the file.
	format = "ripc.ledger/1"
	// tolerance is the share by which cycles may exceed the fewest.
	tolerance = 0.02
)

// cycles are the newest cycles, the fewest, and those at the core's limit, or 0 without a limit.
type cycles [3]int64

func (c cycles) now() int64   { return c[0] }
func (c cycles) best() int64  { return c[1] }
func (c cycles) limit() int64 { return c[2] }

// share is the part of the limit that the newest cycles reach.
func (c cycles) share() float64 { return float64(c.limit()) / float64(max(1, c.now())) }

// isLoss reports whether the newest cycles exceed the fewest by more than the tolerance.
func (c cycles) isLoss() bool { return float64(c.now()) > (1+tolerance)*float64(c.best()) }

// others is the name of all stages without multiply-adds together.
const others = "other stages"

// row has the cycles of a subject on a target.
type row struct {
	Target  string            `json:"target"`
	Subject string            `json:"subject"`
	Date    string            `json:"date"`
	Commit  string            `json:"commit"`
	Cycles  cycles            `json:"cycles"` // of the whole network; the limit is the layers' together
	Layers  map[string]cycles `json:"layers"`
}

// loss is a rise of cycles that somebody accepted, or that nobody has accepted yet.
type loss struct {
	Date    string `json:"date"`
	Reason  string `json:"reason"`
	Target  string `json:"target"`
	Subject string `json:"subject"`
	Layer   string `json:"layer,omitempty"` // "" is the whole network
	From    int64  `json:"from"`
	To      int64  `json:"to"`
}

// String returns "squeezenet on rpi3, layer conv1: 100 cycles, 90 before (1.111 times)".
func (l loss) String() string {
	layer := ""
	if l.Layer != "" {
		layer = ", layer " + l.Layer
	}
	return fmt.Sprintf("%s on %s%s: %d cycles, %d before (%.3f times)", l.Subject, l.Target, layer, l.To, l.From,
		float64(l.To)/float64(max(1, l.From)))
}

// ledger is the contents of the file.
type ledger struct {
	Format   string                        `json:"format"`
	LLVM     string                        `json:"llvm"`   // the version with the models of the cores
	Limits   map[string]map[string]float64 `json:"limits"` // multiply-adds a cycle, by target and limit
	Accepted []loss                        `json:"accepted"`
	Rows     []*row                        `json:"rows"` // by target and subject
}

// read returns the ledger of a file. One that is not there is empty.
func read(path string) (*ledger, error) {
	l := &ledger{Format: format, Limits: map[string]map[string]float64{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if l.Format != format {
		return nil, fmt.Errorf("%s: format %q, want %q", path, l.Format, format)
	}
	return l, nil
}

// text returns the contents of the file, a line for each row. One ledger has one text.
func (l *ledger) text() (_ string, err error) {
	defer stop.Catch(&err)
	slices.SortFunc(l.Rows, func(a, b *row) int {
		return cmp.Or(strings.Compare(a.Target, b.Target), strings.Compare(a.Subject, b.Subject))
	})
	var head bytes.Buffer
	for i, part := range []struct {
		name  string
		value any
	}{{"format", l.Format}, {"llvm", l.LLVM}, {"limits", l.Limits}} {
		value := stop.Must(json.Marshal(part.value))
		fmt.Fprintf(&head, "%s%q:%s", []string{"", ",\n"}[min(i, 1)], part.name, value)
	}
	accepted := stop.Must(lines(l.Accepted))
	rows, err := lines(l.Rows)
	return fmt.Sprintf("{%s,\n\"accepted\":[%s],\n\"rows\":[%s]}\n", head.String(), accepted, rows), err
}

// lines returns the elements of a JSON array, each on a line.
func lines[T any](all []T) (string, error) {
	var out []string
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		out = append(out, "\n"+string(text))
	}
	return strings.Join(out, ","), nil
}

// find returns the row of a subject on a target, or nil.
func (l *ledger) find(target, subject string) *row {
	for _, r := range l.Rows {
		if r.Target == target && r.Subject == subject {
			return r
		}
	}
	return nil
}

// enter puts a measured row in the place of the old one. The fewest cycles of a layer stay, unless
// the new ones are fewer. It returns the losses. If reason is not "", they are accepted: they join
// the list, and the new cycles count as the fewest from now on.
func (l *ledger) enter(r *row, reason string) (losses []loss) {
	old := l.find(r.Target, r.Subject)
	merge := func(layer string, c, was cycles) cycles {
		c[1] = c.now()
		if was.best() == 0 || c.now() <= was.best() {
			return c
		}
		c[1] = was.best()
		if c.isLoss() {
			losses = append(losses, loss{r.Date, reason, r.Target, r.Subject, layer, c.best(), c.now()})
			if reason != "" {
				c[1] = c.now()
			}
		}
		return c
	}
	if old == nil {
		old = &row{}
		l.Rows = append(l.Rows, old)
	}
	layers := map[string]cycles{}
	for name, c := range r.Layers {
		layers[name] = merge(name, c, old.Layers[name])
	}
	r.Layers, r.Cycles = layers, merge("", r.Cycles, old.Cycles)
	*old = *r
	slices.SortFunc(losses, func(a, b loss) int { return strings.Compare(a.Layer, b.Layer) })
	if reason != "" {
		l.Accepted = append(l.Accepted, losses...)
	}
	return losses
}

// Names of values in figures: "conv1 cycles" and "conv1 limit_cycles", "cycles" of the network.
const (
	ofCycles = "cycles"
	ofLimit  = "limit_cycles"
)

// rowOf returns the row of a figure.
func rowOf(f *figures.Figure) *row {
	r := &row{Target: f.Target, Subject: f.Subject, Date: f.Date, Commit: f.Commit, Layers: map[string]cycles{}}
	for name, v := range f.Values {
		layer, quantity, ok := cutLast(name)
		c, at := r.Layers[layer], 0
		if !ok {
			c = r.Cycles
		}
		if quantity == ofLimit {
			at = 2
		}
		c[at] = int64(math.Round(v))
		if !ok {
			r.Cycles = c
		} else {
			r.Layers[layer] = c
		}
	}
	return r
}

// cutLast cuts a name at its last space. ok is false if it has none.
func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}
