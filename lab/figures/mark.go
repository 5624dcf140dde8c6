package figures

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ripc/measure"
)

// Mark says where a figure is from. It belongs to each figure: a command that measures nothing
// changes no mark.
type Mark struct {
	Date string `json:"date"` // year-month-day
	// Commit is the last commit of the code that was measured, with "+" behind it if files of that
	// code were changed since. "" is unknown.
	Commit string `json:"commit"`
	CPU    string `json:"cpu"`            // the CPU that measured, or the core that a model estimates
	Tool   string `json:"tool,omitempty"` // the system and the versions of the programs
}

// Compiler lists the folders that decide which code a network becomes.
func Compiler() []string {
	return []string{"codegen", "compile", "fusedglue", "graph", "importer", "ir", "lower", "recognize", "runtime",
		"schedule", "targets"}
}

// commitDigits is the length of a commit in a mark.
const commitDigits = 12

// Now returns the mark of measurements of this CPU at this moment. code lists folders that are
// measured besides Compiler.
func Now(tool string, code ...string) Mark {
	return Mark{Date: time.Now().Format(time.DateOnly), CPU: measure.CPU(), Commit: head(append(Compiler(), code...)),
		Tool: tool}
}

// Prefixes of the CPUs of marks that say nothing of this machine.
const (
	modelOf = "LLVM's model of "
	byQemu  = "counted by qemu"
)

// Estimated returns m of cycles that LLVM's model of a core estimates.
func (m Mark) Estimated(core string) Mark {
	m.CPU = modelOf + core
	return m
}

// ByQemu returns the mark of instructions that qemu counts.
func (m Mark) ByQemu() Mark {
	m.CPU = byQemu
	return m
}

// Simulated reports whether figures of the mark are the same on every machine.
func (m Mark) Simulated() bool { return m.CPU == byQemu || strings.HasPrefix(m.CPU, modelOf) }

// head returns the commit of the working tree, "" where there is no repository.
func head(folders []string) string {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil || len(out) < commitDigits {
		return ""
	}
	text := string(out[:commitDigits])
	changed, err := exec.Command("git", append([]string{"status", "-s", "--"}, folders...)...).Output()
	if err != nil || len(changed) > 0 {
		text += "+"
	}
	return text
}

// String returns the mark for people: `2026-11-22, commit 0123456789ab, AMD EPYC`.
func (m Mark) String() string {
	return fmt.Sprintf("%s, commit %s, %s", cmp.Or(m.Date, "no date"), cmp.Or(m.Commit, "unknown"),
		cmp.Or(m.CPU, "unknown CPU"))
}

// Sources says where figures are from, a sentence for each day and CPU, the oldest first.
func Sources(all []*Figure) string {
	count, commits := map[Mark]int{}, map[Mark]map[string]bool{}
	for _, f := range all {
		day := Mark{Date: f.Mark.Date, CPU: f.Mark.CPU}
		if count[day]++; commits[day] == nil {
			commits[day] = map[string]bool{}
		}
		commits[day][cmp.Or(f.Mark.Commit, "unknown")] = true
	}
	var lines []string
	for day, n := range count {
		figures := fmt.Sprintf("%d figures", n)
		if n == 1 {
			figures = "1 figure"
		}
		day.Commit = strings.Join(slices.Sorted(maps.Keys(commits[day])), ", ")
		lines = append(lines, fmt.Sprintf("Measured on %s: %s.", day, figures))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Tools lists the tools of figures, in their order.
func Tools(all []*Figure) string {
	var tools []string
	for _, f := range all {
		if f.Tool != "" && !slices.Contains(tools, f.Tool) {
			tools = append(tools, f.Tool)
		}
	}
	return strings.Join(tools, "; ")
}
