package layout

// Groups is how the channels of a pixel are cut into groups that have a table each: words in
// chunks, and chunks in groups. The last group of a chunk may have fewer channels.
type Groups struct {
	Chunk    int // words that are cut together
	Chunks   int
	PerChunk int // groups that have tables
	Used     int // groups that hold channels: the last chunk may have fewer than PerChunk
}

// maxCount is the largest count that a byte of a table holds.
const maxCount = 255

// An instruction makes the tables of tablesMade groups at once. For groups of 6 channels sixesMade
// works as well: 16 and 18 channels have three of them.
const (
	tablesMade = 4
	sixesMade  = 3
)

// groupsOf cuts channels into groups of `bits` channels.
func groupsOf(channels, bits int) Groups {
	words := Words(channels)
	g := Groups{Chunk: 1}
	if WordBits%bits != 0 && words%2 == 0 {
		g.Chunk = 2 // fewer channels are left over
	}
	g.Chunks, g.PerChunk = words/g.Chunk, ceilDiv(g.Chunk*WordBits, bits)
	last := ceilDiv(channels-(g.Chunks-1)*g.Chunk*WordBits, bits)
	g.Used = (g.Chunks-1)*g.PerChunk + last
	if g.Chunks == 1 { // groups without channels have no tables, except those that are made with others
		together := tablesMade
		if last == sixesMade && bits == 6 {
			together = sixesMade
		}
		g.PerChunk = min(g.PerChunk, ceilDiv(last, together)*together)
	}
	return g
}

// tableGroups is the number of groups that have tables.
func (g Groups) tableGroups() int { return g.Chunks * g.PerChunk }

// separates reports whether every n channels have groups of their own in g, a cut into groups of
// `bits` channels.
func (g Groups) separates(n, bits int) bool {
	chunk := g.Chunk * WordBits
	return n%chunk == 0 || n%bits == 0 && (chunk%bits == 0 || g.Chunks == 1)
}
