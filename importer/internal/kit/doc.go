// Package kit makes layers for the readers of other programs' files.
//
// A reader has a builder of its own, which embeds a Kit. It gives the Kit four functions. Emit
// appends a node for the file node at work, and Each does so for an op on single elements. Reshape
// changes a shape, and Take counts constants. All other functions of the Kit use these four. They
// take and return values of the graph, with axes in the graph's order. graph.Infer checks shapes,
// and the Kit does not. The reader alone decides which forms of an operator it reads.
//
//	Constant, One, Vector                     numbers of the reader.
//	Plain, Number, Reversed, Pair, Affine     ops on single elements.
//	Slope, Gelu, NonZero                      functions made of these.
//	Cut, CutAxis, Pick                        positions of axes, as slices (Span, Runs).
//	At, AtPixels, AsRows                      positions of axes, as gather (Along, Sample).
//	Concat, Part, Join, Repeat                values one after the other.
//	Ranked, Transpose, Spatial                axes, and padding around an image.
//	Rows, Reduce, EachChannel                 dense layers and pools of any axes, sums of levels.
//	Levels                                    integers behind the floats that they stand for.
//
// A fault of the file ends the reading of a node at once. The function that finds it panics with an
// error, as package stop has it, and a reader calls stop.Try for each node:
//
//	err := stop.Try(func() { outs = op.lower(n) })
//
// It also serves a layer with a second form: if the first one fails, such as a layer of integers
// with too large sums, the second one is tried.
package kit
