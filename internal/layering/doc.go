// Package layering keeps the architecture true: Table says which package may import which, and the
// test of this package fails when code says otherwise. Only imports are read, and only of files
// that are not tests; tests may import any package.
package layering
