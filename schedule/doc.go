// Package schedule holds the primitives that change the execution of a Func and never its result.
// Each takes a Func and returns a new one; the argument is not changed. A step that is not legal
// ends Trace.Apply and Trace.ApplyAll with an *ir.Error that names an accepted form.
//
// A schedule is a Trace: a list of Steps with one text form, used by tests, --schedule files,
// tuning records and messages.
//
//	split h 4 tail=guard -> h.o h.i        split l 32 tail=cut      (results may be left out: l.o and l.i)
//	tile h w 4 8 tail=shift -> h.o w.o h.i w.i
//	reorder h.o w.o h.i w.i                outermost first
//	unroll w.i                             vectorize acc.o*         parallel h.o
//	fuse h.o q                             decompose_reduction o -> start
//	compute_at acc w.o                     compute_inline xp
//	peel w 1 1
//	cache_read x h.o                       cache_write y h.o
//	narrow_accumulate acc acc.kh u8        carry_save acc acc.c acc.kh
//	rfactor acc acc.part acc.kh type=u8    set_encoding wt u8
//	pack wt 3.o 0 1 2 3.i factor=32        pair wt 3                      replicate xp acc.l
//	tensorize acc.o xor_count_add_x16
//
// docs/schedule.md lists them all. Pack and pair may change the layout of a parameter: ApplyAll
// gives the Funcs that make the new layout out of the old one, and the caller of the Func has to
// run them first. Set_encoding changes a parameter's type alone: its Func need not be run
// (Pack.View).
//
// # Names of loops
//
// A loop is named as .ripir writes it, without "%". Split makes l.o and l.i (and l.t, the remainder
// of tail=cut). When Reorder distributes a loop l over the statements of its body, the copy around
// the nest that moved keeps the name l; the others become l.1, l.2, ... in the order in which they
// arise. When tail=cut repeats loops that lie inside l, the repeated ones get ".t"; loops that peel
// repeats get ".1" and ".t". A name with a star, acc.o*, stands for acc.o and all its copies (.1,
// .2, ..., .t): split, unroll, vectorize and tensorize accept it, and treat the copies in program
// order.
//
// # When a step is legal
//
// Iterations of a loop are independent when the index of a dimension separates them in every buffer
// they write: index = c*loop + rest, where rest spans less than c. Integer +=, |=, min= and max=
// may be carried out in any order; float accumulations keep theirs. Everything else is refused.
//
// The result of a step is well-formed (ir.Verify), or the step is refused with ir.Verify's error.
// Trace.Apply verifies this for all steps.
package schedule
