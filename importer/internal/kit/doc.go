// Package kit makes the layers that readers of other programs' files have in common.
//
// A reader has a builder of its own, which embeds a Kit. It gives the Kit four functions: Emit
// appends a node for what is being read, Each does so for an op on single elements, Reshape changes
// a shape, and Take counts constants. All other functions of the Kit are made of these. They take
// and return values of the graph, whose axes are in the graph's order, and check nothing that
// graph.Infer checks. What an operator of a file means, and which of its forms are read, is the
// reader's alone.
//
//	Constant, One, Vector                     numbers of the reader
//	Plain, Number, Reversed, Pair, Affine     ops on single elements
//	Slope, Gelu, NonZero                      functions made of these
//	Cut, CutAxis, Pick                        positions of axes, as slices (Span, Runs)
//	At, AtPixels, AsRows                      positions of axes, as gather (Along, Around, Sample)
//	Concat, Part, Join, Repeat                values one after the other
//	Ranked, Transpose, Spatial                axes, and what lies around an image
//	Rows, Reduce, EachChannel                 dense layers and pools of any axes, sums of levels
//	Levels                                    integers behind the floats that they stand for
//
// A fault of the file ends the reading of a node at once, wherever it is found. The function that
// finds it panics with an error, and Try, which a reader puts around each node, returns that error.
// So the functions between the two pass on no errors:
//
//	err := kit.Try(func() { outs = op.lower(n) })
//
// Check and Must panic with the errors of functions that return them, and Read is Try for all of a
// file. Try is also for a layer that
// has another form if the first one fails, such as a layer of integers with sums that are too
// large.
package kit
