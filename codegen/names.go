package codegen

import (
	"fmt"
	"slices"
	"strings"

	"ripc/internal/abi"
	"ripc/ir"
)

// Identifier makes a C identifier of a network's name, the prefix of the artifact's exports. Other
// characters become "_", and "_" goes before a leading digit and before the keywords of C and C++.
func Identifier(name string) string {
	s := CleanName(name)
	if s == "" || s[0] >= '0' && s[0] <= '9' || slices.Contains(keywords(), s) {
		return "_" + s
	}
	return s
}

// Symbols are the names of the kernels of the Funcs that stages of p use, by Func.
func Symbols(p *ir.Program) map[string]string {
	used := map[string]bool{}
	for _, s := range p.Stages {
		used[s.Func] = true
	}
	taken := map[string]bool{abi.Weights: true, abi.Describe: true, abi.Sync: true}
	for _, e := range abi.Exports(Identifier(p.Name)) {
		taken[e] = true
	}
	names := map[string]string{}
	for _, f := range p.Funcs {
		if used[f.Name] { // but for clashes by the Func alone, so that networks share cached kernels
			names[f.Name] = Unique(taken, "ripc_"+CleanName(f.Name))
		}
	}
	return names
}

// Unique returns base, with a number if it is taken, and takes it.
func Unique(taken map[string]bool, base string) string {
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	taken[name] = true
	return name
}

// CleanName replaces characters that C identifiers cannot have.
func CleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

// keywords lists those of C11 and C++17 that look like names.
func keywords() []string {
	return strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
		class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
		export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
		operator or or_eq private protected public register reinterpret_cast restrict return short signed sizeof static
		static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union
		unsigned using virtual void volatile wchar_t while xor xor_eq`)
}
