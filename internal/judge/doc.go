// Package judge compares ripc's proofs with the interpreter. It runs random small Funcs and
// expressions on many inputs, and each claim of ir/arith, ir/deps and schedule about them must
// hold. It does not know how they are proved.
package judge
