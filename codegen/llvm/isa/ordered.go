package isa

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// orderedLines are assembly that adds to registers of sums of bytes, in an order that was found for it. Sums are operands from $0 on.
type orderedLines struct {
	sums                  int
	lines                 func(fresh bool) []string // where sums are set, or added to
	results               []string                  // constraints of the addresses that it gives beside sums
	clobbers              []string
	operands, constraints string // beside sums
}

// ordered is the function of instruction f, of sums at %acc and of two inputs: two pieces of assembly, of which one remains. Sums that LLVM knows to be zero are set by the first that
// is added to them.
func ordered(f *ir.Func, a orderedLines) Function {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	result := "{ " + strings.Repeat("<16 x i8>, ", a.sums-1) + "<16 x i8>" + strings.Repeat(", ptr", len(a.results)) + " }"
	clobbers := ""
	for _, k := range a.clobbers {
		clobbers += ",~{" + k + "}"
	}
	p("define internal void @%s(ptr %%acc, ptr %%%s, ptr %%%s) alwaysinline {", f.Name, f.Params[1].Name, f.Params[2].Name)
	all := "true"
	for s := range a.sums {
		p("  %%at%[1]d = getelementptr inbounds i8, ptr %%acc, i32 %[2]d", s, 16*s)
		p("  %%old%[1]d = load <16 x i8>, ptr %%at%[1]d, align 1", s)
		p("  %%constant%[1]d = call i1 @llvm.is.constant.v16i8(<16 x i8> %%old%[1]d)", s)
		p("  %%known%[1]d = and i1 %%constant%[1]d, %[2]s", s, all)
		all = fmt.Sprintf("%%known%d", s)
	}
	p("  br i1 %s, label %%first, label %%later", all)
	tied, olds := "", ""
	for s := range a.sums {
		tied, olds = tied+fmt.Sprintf(",%d", s), olds+fmt.Sprintf(", <16 x i8> %%old%d", s)
	}
	results := ""
	for _, r := range a.results {
		results += r + ","
	}
	for _, v := range []struct {
		label, tied, olds string
	}{{label: "first"}, {"later", tied, olds}} {
		p("%s:", v.label)
		lines := strings.Join(a.lines(v.label == "first"), `\0A`)
		p("  %%%s.all = call %s asm sideeffect \"%s\", \"%s%s%s%s%s,~{memory}\"(%s%s) nounwind",
			v.label, result, lines, strings.Repeat("=&w,", a.sums), results, a.constraints, v.tied, clobbers, a.operands, v.olds)
		for s := range a.sums {
			p("  %%%[1]s%[2]d = extractvalue %[3]s %%%[1]s.all, %[2]d", v.label, s, result)
			if v.label == "first" {
				p("  %%sum%[1]d = add <16 x i8> %%first%[1]d, %%old%[1]d", s)
			}
		}
		p("  br label %%done")
	}
	p("done:")
	for s := range a.sums {
		p("  %%new%[1]d = phi <16 x i8> [ %%sum%[1]d, %%first ], [ %%later%[1]d, %%later ]", s)
	}
	for s := range a.sums {
		p("  store <16 x i8> %%new%[1]d, ptr %%at%[1]d, align 1", s)
	}
	p("  ret void")
	p("}")
	return Function{Calls: []Declaration{isConstant()}, Text: b.String()}
}
