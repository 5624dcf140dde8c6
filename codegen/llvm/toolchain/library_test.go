package toolchain

import (
	"bytes"
	"testing"

	"ripc/targets"
)

// TestLibrary: it is used where it can be, and the environment and WithoutLibrary do without it. All give the same object.
func TestLibrary(t *testing.T) {
	tools := needTools(t)
	if tools.library == nil {
		t.Skip("skipped: opt and llc have no shared library in common that can be loaded here")
	}
	t.Setenv(EnvLibrary, "off")
	without := needTools(t)
	for _, tg := range targets.All() {
		if tg.Bare || tg.IsDevice() {
			continue
		}
		if tools.Library(t.Context(), tg) == "" || without.Library(t.Context(), tg) != "" || tools.WithoutLibrary().Library(t.Context(), tg) != "" {
			t.Errorf("%s: the library is not used where it should be, or is where it should not", tg.Name)
		}
		for _, ll := range []string{popcountLL, loopLL} {
			got, err := tools.library.Compile(t.Context(), tools.settings(tg), []byte(ll))
			if err != nil {
				t.Fatalf("%s: %v", tg.Name, err)
			}
			if want, err := without.Compile(t.Context(), nil, []byte(ll), tg, Obj); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: the tools make another object (%v)", tg.Name, err)
			}
		}
	}
}
