package targets

// Facts of instructions that layouts and kernels have to agree on.

// Quad is the number of adjacent channels with products of bytes that an instruction adds to one
// sum.
const Quad = 4

// pageBytes is the size of a page of memory.
const pageBytes = 4096

// Scalar says that t has no vectors: VectorBits and Registers are those of its scalars.
func (t Target) Scalar() bool { return t.VectorBits > 0 && t.VectorBits <= t.PointerBits() }

// SignedBytes says that t multiplies bytes of levels as signed numbers: x86-64 has products of an
// unsigned and a signed byte, NEON of two of a kind.
func (t Target) SignedBytes() bool { return t.Arch == "aarch64" || t.Arch == "arm" }

// RoundedProducts says that one instruction of t multiplies lanes of 32 bits, and rounds the upper
// halves of the products. Others round sums of 64 bits, once as easily as twice.
func (t Target) RoundedProducts() bool { return t.Has("neon") }

// BroadcastLoads reports whether t broadcasts a number from memory as fast as from a register, so
// that the numbers of a sum need not be contiguous.
func (t Target) BroadcastLoads() bool { return t.Arch == "x86_64" }

// ScatteredStores reports whether storing the lanes of vectors `apart` bytes apart costs less than
// storing them side by side and moving them later. x86-64 takes two operations for each lane, so it
// pays only if a later pass would read each lane from another page.
func (t Target) ScatteredStores(apart int) bool { return t.Arch != "x86_64" || apart > pageBytes }

// BoundedLookups reports whether t's instructions look up 0 for an index past the table, as tbl,
// vtbl and vrgather do, and not the entry of its lower bits.
func (t Target) BoundedLookups() bool { return t.Has("neon") || t.Has("simd128") || t.Has("zvl256b") }
