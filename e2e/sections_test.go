package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm/rows"
	"ripc/internal/golden"
	"ripc/schedule/machine"
	"ripc/schemas"
	"ripc/targets"
	"ripc/targets/boards"
	"ripc/targets/isa"
)

// section compares the part of a page between the lines "<!-- NAME: begin -->" and "<!-- NAME: end -->" with what code knows.
//
//	go test ./e2e -run '^TestSections$' -update
func section(t *testing.T, page, name, text string) {
	t.Helper()
	golden.CheckSection(t, filepath.Join("..", page), "<!-- "+name+": begin -->", "<!-- "+name+": end -->", text)
}

// TestSections: tables of what code knows say what it says.
func TestSections(t *testing.T) {
	t.Parallel()
	section(t, "docs/reference.md", "kinds of files", kindTable(t))
	section(t, "docs/reference.md", "exit codes", exitTable(t))
	section(t, "docs/reference.md", "environment", environmentTable(t))
	golden.CheckSection(t, "../Makefile", "# boards: begin", "# boards: end", "BOARDS := "+boardNames()+"\n")
	golden.CheckSection(t, "../examples/mcu/Makefile", "# boards: begin", "# boards: end", boardVariables())
	section(t, "docs/schedule.md", "instructions", instructionTable(t))
	section(t, "docs/estimates.md", "models", modelTable())
	section(t, "docs/estimates.md", "timings", timingTable())
	section(t, "docs/boards.md", "boards", boardTable())
	section(t, "docs/machines.md", "machines", machineTable(t))
	golden.Check(t, "../docs/ops.md", []byte(opsPage(t)))
}

// table is rows of cells in Markdown; the first row is the header.
func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			row[j] = strings.ReplaceAll(cell, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// modelTable says by which models cycles are estimated.
func modelTable() string {
	out := [][]string{{"target", "core", "LLVM's model", "clock, MHz"}}
	for _, t := range targets.All() {
		if r, ok := rows.Of(t); ok && r.Model != "" && t.Arch != "x86_64" && !sandboxed(t) && !t.IsDevice() {
			clock := "none"
			if t.ClockMHz > 0 {
				clock = strconv.Itoa(t.ClockMHz)
			}
			out = append(out, []string{"`" + t.Name + "`", t.CPU, r.Model, clock})
		}
	}
	for _, b := range boards.All() {
		model := "none; its manual has no table of timings"
		if b.Timings != nil {
			model = "none; its manual's table, below"
		}
		out = append(out, []string{"`" + b.Target + "`", b.Target, model, strconv.FormatInt(b.ClockHz/1e6, 10)})
	}
	return table(out)
}

// timingTable says how many cycles the instructions of microcontrollers take, and by which tables.
func timingTable() string {
	var out strings.Builder
	for _, b := range boards.All() {
		if b.Timings == nil {
			continue
		}
		rows := [][]string{{"instructions", "cycles", "from"}}
		for _, r := range b.Timings.Rows {
			cycles := strconv.Itoa(r.Cycles)
			if r.PerWord > 0 {
				cycles += " + N"
			}
			if r.Refill > 0 {
				cycles += fmt.Sprintf("; + %d for P", r.Refill)
			}
			names, shown := strings.Fields(r.Mnemonics), 5
			text := "`" + strings.Join(names[:min(shown, len(names))], " ") + "`"
			if len(names) > shown {
				text += fmt.Sprintf(" and %d more", len(names)-shown)
			}
			rows = append(rows, []string{text, cycles, r.Source})
		}
		fmt.Fprintf(&out, "`%s`, by %s:\n\n%s", b.Target, b.Timings.Manual, table(rows))
	}
	return out.String()
}

// boardTable says of each target where it runs, here and there, and what is known of its speed.
func boardTable() string {
	out := [][]string{{"target", "board", "`uname -m`", "runs here", "speed in `bench`"}}
	for _, m := range targets.All() {
		if m.Name == targets.HostName {
			continue
		}
		cpu, _, _ := strings.Cut(m.QemuCPU, ",") // its extensions are those of the board
		system, here, speed := cmp.Or(map[string]string{"arm": "armv7l"}[m.Arch], m.Arch), "", ""
		board, simulated := boards.Of(m.Name)
		r, known := rows.Of(m)
		switch {
		case simulated:
			system, here, speed = "no system", board.Title+", simulated", "instructions; flash and RAM"
			if board.Timings != nil {
				speed = "cycles by the manual; flash and RAM"
			}
		case m.Arch == "nvptx64":
			system, here, speed = "any", "on the first GPU", "time by the device's clock, measured"
		case m.Arch == "webgpu":
			system, here, speed = "none", "in Chromium, on the CPU", "time on the page's clock"
		case m.IsDevice():
			system, here, speed = "any", "first device of kind "+m.Features[0], "time on its clock"
		case m.Has("relaxed-simd"):
			system, here, speed = "none", "in Node", "time of Node's code"
		case sandboxed(m):
			system, here, speed = "none", "in wazero, a part of ripc", "time of wazero's code"
		case m.Arch == "x86_64":
			here, speed = "natively", "time"
		case known && r.Model != "":
			here, speed = "qemu's "+cpu, "cycles by "+r.Model
		default:
			here, speed = "qemu's "+cpu, "instructions"
		}
		out = append(out, []string{"`" + m.Name + "`", m.Board, system, here, speed})
	}
	return table(out)
}

// machineTable says of each model of a machine what it was made of and how good it is.
func machineTable(t *testing.T) string {
	out := [][]string{{"machine", "serves", "measured", "unit", "layers or networks", "points", "off by", "judged on", "one core", "all cores"}}
	serves, models := map[string][]string{}, map[string]*machine.Model{}
	for _, m := range targets.All() {
		learned, ok, err := machine.Of(m)
		if err != nil {
			t.Fatal(err)
		}
		if ok && m.Name != targets.HostName {
			models[learned.Target] = learned
			serves[learned.Target] = append(serves[learned.Target], "`"+m.Name+"`")
		}
	}
	hosts, err := filepath.Glob("../schedule/machine/data/" + targets.HostName + "-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range hosts {
		m := &machine.Model{}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &m.Weights); err != nil {
			t.Fatal(err)
		}
		models[m.Target], serves[m.Target] = m, []string{"`" + targets.HostName + "`"}
	}
	above := func(ratio float64) string {
		if ratio == 0 { // not measured
			return ""
		}
		return fmt.Sprintf("%.1f", 100*(ratio-1))
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m := models[name]
		off, judged := "not checked", "none"
		if m.Error.P90 > 0 {
			off = fmt.Sprintf("%.0f %%, %.0f %%", 100*m.Error.Median, 100*m.Error.P90)
		}
		row := []string{"`" + name + "`", strings.Join(serves[name], ", "), m.Date + ", " + m.Tool, m.Unit, strconv.Itoa(m.Networks), strconv.Itoa(m.Points)}
		if m.Choice.Networks > 0 {
			judged = strconv.Itoa(m.Choice.Networks)
		}
		row = append(row, off, judged)
		for _, c := range []machine.Choice{m.Choice, m.Shared} {
			switch {
			case c.Networks == 0:
				row = append(row, "")
			case c.P90 == 0: // networks of microcontrollers
				row = append(row, above(c.Mean)+", worst "+above(c.Worst))
			default:
				row = append(row, above(c.Mean)+", "+above(c.P90)+", "+above(c.Worst))
			}
		}
		out = append(out, row)
	}
	return table(out)
}

// boardNames are the targets that have a board.
func boardNames() string {
	var names []string
	for _, b := range boards.All() {
		names = append(names, b.Target)
	}
	return strings.Join(names, " ")
}

// boardVariables say in a Makefile how programs for each board are compiled, and where they run.
func boardVariables() string {
	text := "TARGETS := " + boardNames() + "\n"
	for _, b := range boards.All() {
		text += "FLAGS." + b.Target + " := " + strings.Join(b.Flags, " ") + "\nBOARD." + b.Target + " := " + b.Machine + "\n"
	}
	return text
}

// constant is a const with the comment at the end of its line, or above it.
type constant struct{ name, value, comment string }

// constants lists the consts of a file whose names match.
func constants(t *testing.T, file, names string) []constant {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []constant
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if !regexp.MustCompile(names).MatchString(v.Names[0].Name) {
				continue
			}
			value := "" // of an enumeration: it counts up
			if len(v.Values) == 1 {
				if lit, ok := v.Values[0].(*ast.BasicLit); ok {
					value = strings.Trim(lit.Value, `"`)
				}
			}
			comment := cmp.Or(v.Comment.Text(), v.Doc.Text(), g.Doc.Text())
			out = append(out, constant{v.Names[0].Name, value, strings.Join(strings.Fields(comment), " ")})
			if comment == "" {
				t.Errorf("%s: %s has no comment", file, v.Names[0].Name)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constants %s", file, names)
	}
	return out
}

// kindTable has the files that users ask for.
func kindTable(t *testing.T) string {
	rows := [][]string{{"`--emit`", "file"}}
	for _, c := range constants(t, "codegen/kind.go", "^[A-Z]") {
		if slices.Contains(codegen.Kinds(), codegen.Kind(c.value)) {
			rows = append(rows, []string{"`" + c.value + "`", c.comment})
		}
	}
	return table(rows)
}

func exitTable(t *testing.T) string {
	rows := [][]string{{"code", "meaning"}}
	for _, c := range constants(t, "cmd/ripc/errors.go", "^exit") {
		rows = append(rows, []string{c.value, c.comment})
	}
	return table(rows)
}

// environmentTable has the variables that users set; those by which ripc's own processes talk are no part of it.
func environmentTable(t *testing.T) string {
	rows := [][]string{{"variable", "meaning"}}
	for _, file := range []string{"codegen/llvm/toolchain/tools.go", "caches/cache.go", "codegen/c99/compiler.go", "autotune/runner/ssh.go"} {
		for _, c := range constants(t, file, "^Env") {
			meaning, ok := strings.CutPrefix(c.comment, c.name+" is the environment variable with ")
			if !ok {
				t.Errorf("%s: %s", file, c.comment)
			}
			rows = append(rows, []string{"`" + c.value + "`", strings.TrimSuffix(meaning, ".")})
		}
	}
	return table(rows)
}

// TestEnvironment: what ripc reads from its environment is documented, or is between its own processes.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	own := []string{"RIPC_COUNT_FILE", "RIPC_VERIFY_WORKER", "RIPC_LLVM_CHILD", "RIPC_REQUIRE_TOOLS", "RIPC_REQUIRE_MCU", "RIPC_REQUIRE_FPGA", "RIPC_REQUIRE_C", "RIPC_REQUIRE_APPS", "RIPC_REQUIRE_TWIN", "RIPC_STUB_LOG", "RIPC_REQUIRE_PACKAGES", "RIPC_THOROUGH"} // those of tests: CONTRIBUTING
	known := environmentTable(t)
	seen := 0
	err := filepath.WalkDir("..", func(file string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		data, err := os.ReadFile(file)
		for _, m := range regexp.MustCompile(`(?:etenv|LookupEnv)\("(RIPC_[A-Z_]+)"|(?:const |\t)[A-Za-z]+ += "(RIPC_[A-Z_]+)"`).FindAllStringSubmatch(string(data), -1) {
			seen++
			if name := cmp.Or(m[1], m[2]); !slices.Contains(own, name) && !strings.Contains(known, "`"+name+"`") {
				t.Errorf("%s: %s is not in the table of docs/reference.md", file, name)
			}
		}
		return err
	})
	if err != nil || seen < 4 {
		t.Fatalf("%d variables, %v", seen, err)
	}
}

// instructionTable has a row for each meaning, with the architectures that have instructions for it.
func instructionTable(t *testing.T) string {
	meanings := constants(t, "targets/isa/isa.go", "^[A-Z]")
	on := map[isa.Meaning][]string{}
	for _, i := range isa.All() {
		if !slices.Contains(on[i.Meaning], i.Arch) {
			on[i.Meaning] = append(on[i.Meaning], i.Arch)
		}
	}
	rows := [][]string{{"meaning", "on"}}
	for _, m := range slices.Sorted(maps.Keys(on)) {
		slices.Sort(on[m])
		first, _, _ := strings.Cut(meanings[m].comment, ". ")
		rows = append(rows, []string{strings.TrimSuffix(first, "."), strings.Join(on[m], ", ")})
	}
	return table(rows)
}

// opsPage is docs/ops.md: what the schema says of each op.
func opsPage(t *testing.T) string {
	var schema struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	var node struct {
		Properties struct {
			Op struct {
				Enum []string `json:"enum"`
			} `json:"op"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schemas.Model(), &schema); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(schema.Defs["node"], &node); err != nil || len(node.Properties.Op.Enum) < 20 {
		t.Fatalf("%d ops, %v", len(node.Properties.Op.Enum), err)
	}
	const orWeight = "or on one tensor x and the weight b, [C] or [1]"
	notions := [][2]string{ // phrases of many descriptions, which the page explains once
		{"truth values: levels of 1 bit, unipolar, of scale 1", "truth values"},
		{"on two f32 tensors of one rank, whose axes of extent 1 are repeated; " + orWeight, "on operands"},
		{"a fixed sequence of rounded operations, so that the bits are the same everywhere", "in fixed steps"},
	}
	used := map[string]bool{}
	rows := [][]string{{"op", "what it does"}}
	for _, op := range node.Properties.Op.Enum {
		var d struct {
			Description string `json:"description"`
		}
		if err := json.Unmarshal(schema.Defs[op], &d); err != nil || d.Description == "" {
			t.Fatalf("op %s has no description in the schema (%v)", op, err)
		}
		first, _, _ := strings.Cut(d.Description, ". ")
		first = strings.TrimSuffix(first, ".")
		for _, n := range notions {
			if strings.Contains(first, n[0]) {
				first, used[n[1]] = strings.Replace(first, n[0], n[1], 1), true
			}
		}
		rows = append(rows, []string{"`" + op + "`", first})
	}
	if len(used) != len(notions) {
		t.Errorf("no op is described by one of %q", notions)
	}
	return "# The ops of a model\n\n" +
		"<!-- Made by go test ./e2e -run '^TestSections$' -update from schemas/model.json; do not edit. -->\n\n" +
		"[schemas/model.json](../schemas/model.json) has the whole description of each, its weights, attributes and defaults. Levels are integers of few bits with a scale.\n" +
		"\"Truth values\" are levels of 1 bit, unipolar, of scale 1. \"On operands\" is: on two f32 tensors of one rank, axes of extent 1 being repeated, " + orWeight + ".\n" +
		"\"In fixed steps\" is by a fixed sequence of rounded operations, so that the bits are the same everywhere.\n\n" +
		table(rows)
}
