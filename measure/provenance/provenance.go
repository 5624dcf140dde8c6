// Package provenance records the origin of figures in files and pages: their time, code and CPU.
// Each figure has its own record, and a command that measures nothing changes none of it.
package provenance

import (
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ripc/measure"
)

// Mark is where a figure is from. It is embedded in figures, so that its fields stand beside theirs
// in JSON.
type Mark struct {
	Date string `json:"date"` // year-month-day
	// Commit is the last commit of the code that was measured, with "+" behind it if files of Code
	// were changed since. "" is unknown.
	Commit string `json:"commit"`
	// CPU is the one that measured, or the core that was modelled.
	CPU string `json:"cpu"`
	// Code lists the folders of the code that the figure measures, if that is not Compiler alone.
	Code []string `json:"code,omitempty"`
}

// Compiler lists the folders that decide which code a network becomes.
func Compiler() []string {
	return []string{"codegen", "compile", "fusedglue", "graph", "importer", "ir", "lower", "recognize", "runtime",
		"schedule", "targets"}
}

// Folders lists the folders of the code that the figure measures.
func (m Mark) Folders() []string {
	if len(m.Code) == 0 {
		return Compiler()
	}
	return m.Code
}

// commitDigits is the length of a commit in a mark.
const commitDigits = 12

// Now is the mark of a figure that is measured now, on this CPU. code lists folders that it
// measures besides Compiler.
func Now(code ...string) Mark {
	m := Mark{Date: time.Now().Format(time.DateOnly), CPU: measure.CPU()}
	if len(code) > 0 {
		m.Code = slices.Sorted(slices.Values(append(Compiler(), code...)))
	}
	m.Commit = commit(m.Folders())
	return m
}

// On is m of another CPU.
func (m Mark) On(cpu string) Mark {
	m.CPU = cmp.Or(cpu, m.CPU)
	return m
}

// Estimated is m of cycles that LLVM's model of a core estimates.
func (m Mark) Estimated(core string) Mark { return m.On("LLVM's model of " + core) }

// commit is the commit of the working tree, "" where there is no repository.
func commit(folders []string) string {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil || len(head) < commitDigits {
		return ""
	}
	text := string(head[:commitDigits])
	changed, err := exec.Command("git", append([]string{"status", "-s", "--"}, folders...)...).Output()
	if err != nil || len(changed) > 0 {
		text += "+"
	}
	return text
}

// String is the mark for people: "2026-11-22, commit 0123456789ab, AMD EPYC".
func (m Mark) String() string {
	return fmt.Sprintf("%s, commit %s, %s", cmp.Or(m.Date, "no date"), cmp.Or(m.Commit, "unknown"),
		cmp.Or(m.CPU, "unknown CPU"))
}

// Text describes the origin of figures, a sentence for each mark, the oldest first.
func Text(marks []Mark) string {
	count := map[string]int{}
	for _, m := range marks {
		count[m.String()]++
	}
	var lines []string
	for text, n := range count {
		figures := fmt.Sprintf("%d figures", n)
		if n == 1 {
			figures = "1 figure"
		}
		lines = append(lines, "Measured on "+text+": "+figures+".")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
