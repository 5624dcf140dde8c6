// Package kit makes the layers that the readers of other programs' files have in common.
package kit
