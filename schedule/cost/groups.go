package cost

import "ripc/targets"

// Groups is how the channels of a pixel are cut into groups that have a table each: words of WordChannels in chunks, and chunks in groups,
// of which the last of a chunk may have fewer channels.
type Groups struct {
	Chunk    int // words that are cut together
	Chunks   int
	PerChunk int // groups that have tables
	Used     int // groups that hold channels: those of the last chunk may be fewer than PerChunk
}

// LookedUp is how many tables of groups of so many channels a filter of l looks up in on t, of one position or more: those of its own channels, or all that are made where instructions take
// these together, in no more time than it takes to leave the rest out. By estimated cycles of 3x3 layers of 14x14 pixels, 12 to 80 channels and 3 bits, tables of 4 for 3 groups in use take 4 to 8 % less where 8 filters are a
// third of 16, of 8 for 5 16 % more.
// Merged says that these are the tables of all groups, though each filter reads one: where what is no entry counts 0, and instructions take the tables of all in less time than those of a group, which may be too few, or
// have too few filters.
func (l Layer) LookedUp(t targets.Target, bits int, reach targets.Reach) (tables int, merged bool) {
	if l.mayMerge(t, reach) && table(t, l.merged(), bits, reach) < table(t, l, bits, reach) {
		return l.merged().lookedUp(t, bits, reach), true
	}
	return l.lookedUp(t, bits, reach), false
}

// lookedUp is LookedUp of filters that look up in the tables of their groups.
func (l Layer) lookedUp(t targets.Target, bits int, reach targets.Reach) int {
	layers := max(1, int(l.Groups))
	g := GroupsOf(int(l.Channels)*layers, bits)
	if made := g.Chunks * g.PerChunk; layers == 1 && l.wide(int64(made), int64(bits)) && float64(made) <= t.Lookups(bits, reach).Wide*float64(g.Used) {
		return made
	}
	return g.Used / layers
}

// mayMerge reports whether filters of l's groups can look up in the tables of all groups on t.
func (l Layer) mayMerge(t targets.Target, reach targets.Reach) bool {
	return l.grouped() && reach != targets.Across && t.BoundedLookups()
}

// merged is l as a layer without groups, most of whose weights are no entry.
func (l Layer) merged() Layer {
	l.Channels *= l.Groups
	l.Words = (l.Channels + WordChannels - 1) / WordChannels
	l.Groups, l.GroupFilters = 1, l.Filters
	return l
}

// GroupsOf cuts channels into groups of so many bits.
func GroupsOf(channels, bits int) Groups {
	words := (channels + WordChannels - 1) / WordChannels
	g := Groups{Chunk: 1}
	if WordChannels%bits != 0 && words%2 == 0 {
		g.Chunk = 2 // fewer channels are left over
	}
	whole := func(channels int) int { return (channels + bits - 1) / bits }
	g.Chunks, g.PerChunk = words/g.Chunk, whole(g.Chunk*WordChannels)
	last := whole(channels - (g.Chunks-1)*g.Chunk*WordChannels)
	g.Used = (g.Chunks-1)*g.PerChunk + last
	if g.Chunks == 1 { // tables of channels that there are not are left out, but for those that are made with others
		together := madeTogether
		if last == madeSixes && bits == 6 {
			together = madeSixes
		}
		g.PerChunk = min(g.PerChunk, (last+together-1)/together*together)
	}
	return g
}

// Apart says that each so many channels, of those that g cuts into groups of so many bits, have groups of their own.
func (g Groups) Apart(channels, bits int) bool {
	chunk := g.Chunk * WordChannels
	return channels%chunk == 0 || channels%bits == 0 && (chunk%bits == 0 || g.Chunks == 1)
}

// madeTogether is how many tables instructions make at a time; those of 6 channels, which 16 and 18 channels take three of, madeSixes as well.
const (
	madeTogether = 4
	madeSixes    = 3
)

// MaxByte is the largest sum that a byte holds.
const MaxByte = 255

// Runs chooses how many look-ups are summed in bytes, of which most fit, and how many of them are groups of one tap; the others are
// those of the other taps of a row.
func Runs(most, groups, taps int) (lookups, run int) {
	even := func(most int) int { // a rest has a nest of its own: rather a little less of each
		most = max(1, min(most, groups))
		for n := most; n > most*2/3; n-- {
			if groups%n == 0 {
				return n
			}
		}
		return most
	}
	lookups = even(most)
	run = lookups
	if n := even(most / taps); taps > 1 && n*taps <= most && n*taps >= lookups {
		return n * taps, n
	}
	return lookups, run
}
