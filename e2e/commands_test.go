package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ripc/internal/need"
)

// notRun are commands of the documents that are not run, by their beginning, and why. Their flags, files and targets must be there
// all the same.
var notRun = []struct{ command, why string }{
	{"make ", "tests of their own"},
	{"bin/ripc verify testdata/qonnx/digits_w1a2.onnx --target pynq-z2", "needs Verilator; make fpga runs it"},
	{"bin/ripc verify testdata/fpga/shortcuts.json --target pynq-z2", "the same"},
	{"bin/ripc compile testdata/fpga/mlp4.json --target icebreaker", "needs nextpnr, and takes a minute"},
	{"bin/ripc bench testdata/qonnx/digits_w1a2.onnx --target pynq-z2", "needs Yosys, and takes a minute"},
	{"bin/ripc tune testdata/fpga/mlp4.json --target pynq-z2", "needs Yosys, and takes minutes"},
	{"bin/ripc compile testdata/fpga/mlp4.json --target pynq-z2 --cycles 64 --records", "reads what the command before writes"},
	{"bin/ripc eval testdata/qonnx/digits_w1a2.onnx --target pynq-z2", "needs Verilator"},
	{"bin/ripc verify examples/digits/digits.json --target webgpu", "TestWebGPUOnDevice does so"},
	{"go mod ", "fetches modules; the test writes a go.mod with this module's versions"},
	{"go test ", "the test that it names runs as such"},
	{"go run ./examples/networks ", "writes large networks; the tests there write the small twins"},
	{"bin/ripc compile build/networks/", "of a large network that the command before writes"},
	{"bin/ripc bench build/networks/", "the same"},
	{"go run ./lab ", "measures for minutes; its own tests run it on one layer"},
	{"python3 -m venv ", "installs PyTorch"},
	{"build/venv/", "installs PyTorch, and trains"},
	{"bin/ripc eval build/twin/", "of a network that the command before trains"},
	{"python3.11 -m venv ", "installs TensorFlow"},
	{"build/larq/", "installs TensorFlow"},
	{"python3 examples/digits/", "needs PyTorch and Brevitas"},
	{"cd examples/rust ", "TestApps does so in a copy"},
	{"cd examples/go-app ", "TestApps does so in a copy"},
	{"build/go-app ", "TestApps runs it"},
	{"bin/ripc bench examples/squeezenet/squeezenet.json --threads 1 --per-layer", "measures for a minute"},
	{"bin/ripc bench examples/convs/", "measures; needs AVX-512 for some schedules"},
	{"bin/ripc verify examples/squeezenet/squeezenet_a2.json --target rpi2", "takes long; TestRandomNetworks runs on rpi2"},
	{"bin/ripc bench examples/digits/digits.json --target rpi4 --on ssh:pi@board", "needs a board; the script on.txt of cmd/ripc does it with an sshd of its own"},
	{"bin/ripc verify examples/digits/digits.json --target rpi4 --on ssh:pi@board", "the same"},
	{"bin/ripc worker --remove ssh:pi@board", "the same"},
	{"ripc ", "a user's own files"},
}

// shown is one command of a page, and what the page says that it prints.
type shown struct {
	line   int
	text   string
	prints []string // lines, "..." stands for any number of them
}

// block is indented or fenced text of a page.
type block struct {
	line  int
	lang  string // "```c" and so on; "" if indented
	lines []string
	after bool // only blank lines are between it and the block before
}

// blocks finds the indented and the fenced blocks of a page.
func blocks(page string) []block {
	var out []block
	fence, prose := "", true
	for i, line := range strings.Split(page, "\n") {
		switch {
		case fence != "" && strings.HasPrefix(line, "```"):
			fence, prose = "", true
		case fence != "":
			out[len(out)-1].lines = append(out[len(out)-1].lines, line)
		case strings.HasPrefix(line, "```"):
			fence = line
			out = append(out, block{line: i + 2, lang: line})
		case strings.HasPrefix(line, "    "):
			if prose || len(out) == 0 || out[len(out)-1].lang != "" || out[len(out)-1].line+len(out[len(out)-1].lines) != i+1 {
				out = append(out, block{line: i + 1, after: !prose})
			}
			out[len(out)-1].lines = append(out[len(out)-1].lines, line[4:])
			prose = false
		case strings.TrimSpace(line) != "":
			prose = true
		}
	}
	return out
}

var (
	isCommand = regexp.MustCompile(`^(bin/ripc|ripc|make|cmake|cd|go|gcc|g\+\+|aarch64-linux-gnu-gcc|qemu-aarch64|grep|sed|cp|mkdir|python3|build/venv/bin/[a-z0-9]+|build/[a-z-]+(/[a-z_]+)?) ?`)
	says      = regexp.MustCompile("`((?:bin/ripc|go doc) [^`]+)`(?:\\s+says\\s+`([^`]+)`)?")
	example   = regexp.MustCompile(`\b[A-Z]{3,}\b|convX|--target T\b`) // placeholders
)

// commands finds the commands of a page in their order, those in the text included.
func commands(page string) []shown {
	var out []shown
	printing := false // a block of commands or output may have output next to it
	for _, b := range blocks(page) {
		if b.lang != "" && b.lang != "```" && b.lang != "```sh" {
			printing = false
			continue
		}
		printing = printing && b.after
		for i := 0; i < len(b.lines); i++ {
			line := b.lines[i]
			switch {
			case isCommand.MatchString(line) && !(line == "ripc:" || strings.HasPrefix(line, "ripc: ")):
				c := shown{line: b.line + i}
				for strings.HasSuffix(line, "|") {
					i++
					line += "\n" + b.lines[i]
				}
				c.text, _, _ = strings.Cut(line, "  #")
				c.text = strings.TrimSpace(c.text)
				out, printing = append(out, c), true
			case printing && i == 0:
				out[len(out)-1].prints = append(out[len(out)-1].prints, b.lines...)
			}
		}
	}
	at := func(offset int) int { return 1 + strings.Count(page[:offset], "\n") }
	for _, m := range says.FindAllStringSubmatchIndex(page, -1) {
		c := shown{line: at(m[0]), text: strings.Join(strings.Fields(page[m[2]:m[3]]), " ")}
		if m[4] >= 0 {
			c.prints = []string{strings.Join(strings.Fields(page[m[4]:m[5]]), " ")}
		}
		if !example.MatchString(c.text) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b shown) int { return a.line - b.line })
	return out
}

// TestCommands runs the commands of the documents, page by page in their order, in a copy of the top folder, and compares what they
// print with what the page says that they do. Sizes of files depend on LLVM and may differ a little.
func TestCommands(t *testing.T) {
	need.Tool(t, "gcc")
	need.Tool(t, "qemu-aarch64")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	ripc := command(t)
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/README.md", "lab/peers/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages %s (%v)", pattern, err)
		}
		pages = append(pages, found...)
	}
	var mu sync.Mutex // of the counts
	used := map[string]int{}
	ran, left := 0, 0 // commands; pages that -run or a missing tool leaves out
	t.Cleanup(func() {
		if left > 0 {
			return
		}
		for _, n := range notRun {
			if used[n.command] == 0 {
				t.Errorf("no page has a command %q; take it off the list", n.command)
			}
		}
		if ran < 20 {
			t.Errorf("only %d commands were run", ran)
		}
	})
	for _, page := range pages {
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		if name == "CHANGELOG.md" {
			continue // what was
		}
		left++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			dir := scratch(t, root, ripc)
			python := findTools(t, commands(string(text)), dir)
			mu.Lock()
			left--
			mu.Unlock()
			written(t, dir, root, string(text))
			for _, c := range commands(string(text)) {
				at := slices.IndexFunc(notRun, func(n struct{ command, why string }) bool { return strings.HasPrefix(squeezed(c.text), n.command) })
				mu.Lock()
				if at >= 0 {
					used[notRun[at].command]++
				} else {
					ran++
				}
				mu.Unlock()
				if at >= 0 {
					present(t, root, ripc, name, c)
					continue
				}
				if err := c.run(t, dir, python); err != nil {
					t.Errorf("%s:%d: %s\n%v", name, c.line, c.text, err)
				}
			}
		})
	}
}

// squeezed is s with single blanks.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") + " " }

// scratch is a folder that looks like the top one, with an empty build.
func scratch(t *testing.T, root, ripc string) string {
	dir := filepath.Join(t.TempDir(), "ripc")
	for _, d := range []string{"build", "bin"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"bin/ripc": ripc}
	for _, d := range []string{"examples", "share", "testdata", "schemas"} {
		links[d] = filepath.Join(root, d)
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// written writes the programs and models that a page shows to where its commands look for them.
func written(t *testing.T, dir, root, page string) {
	t.Helper()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range blocks(page) {
		text := strings.Join(b.lines, "\n") + "\n"
		switch {
		case b.lang == "```c" && strings.Contains(text, "int main(void)"):
			write(filepath.Join(dir, "build", "bar.c"), text)
		case b.lang == "```json" && strings.Contains(text, `"format": "ripc.model/1"`):
			var model struct{ Name string }
			if err := json.Unmarshal([]byte(text), &model); err != nil || model.Name == "" {
				t.Fatalf("a model of name %q: %v", model.Name, err)
			}
			write(filepath.Join(dir, "build", model.Name+".json"), text)
		case b.lang == "```go" && strings.HasPrefix(text, "package main"):
			bar := filepath.Join(dir, "..", "bar")
			write(filepath.Join(bar, "main.go"), text)
			mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			write(filepath.Join(bar, "go.sum"), string(sum))
			write(filepath.Join(bar, "go.mod"), regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(mod), "module bar")+
				"\nrequire ripc v0.0.0\n\nreplace ripc => "+root+"\n")
		}
	}
}

// findTools looks for what commands of a page need besides what set-up promises, and ends the test without it. It returns a folder where
// python3 has numpy, if a command wants it.
func findTools(t *testing.T, all []shown, dir string) (python string) {
	t.Helper()
	for _, c := range all {
		word, _, _ := strings.Cut(c.text, " ")
		switch {
		case word == "cmake", strings.HasSuffix(word, "-linux-gnu-gcc"):
			need.App(t, word)
		case word == "python3" && python == "" && !slices.ContainsFunc(notRun, func(n struct{ command, why string }) bool { return strings.HasPrefix(c.text, n.command) }):
			python = filepath.Join(filepath.Dir(dir), "python")
			if err := os.Mkdir(python, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(need.Numpy(t), filepath.Join(python, "python3")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return python
}

// run runs a command in dir, with the programs in the folder first, and looks for what it should print.
func (c shown) run(t *testing.T, dir, first string) error {
	cmd := exec.CommandContext(t.Context(), "bash", "-c", c.text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "PATH="+first+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONDONTWRITEBYTECODE=1")
	switch {
	case strings.HasPrefix(c.text, "go run ."):
		cmd.Dir = filepath.Join(dir, "..", "bar")
	case strings.HasPrefix(c.text, "go doc "):
		cmd.Dir, cmd.Env = "..", os.Environ() // of this module
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return printed(string(out), c.prints)
}

// sizes are those of files.
var sizes = regexp.MustCompile(`\([0-9.]+ ([KM]i)?B\)`)

// sizeError is by how much a size may differ from that in a page, as a part of it.
const sizeError = 0.05

// sameSizes compares the sizes in two lines.
func sameSizes(have, want string) bool {
	h, w := sizes.FindAllString(have, -1), sizes.FindAllString(want, -1)
	return len(h) >= len(w) && !slices.ContainsFunc(w, func(s string) bool {
		a, b := sizeOf(h[slices.Index(w, s)]), sizeOf(s)
		return math.Abs(a-b) > sizeError*b
	})
}

// sizeOf is a size in bytes.
func sizeOf(text string) float64 {
	number, unit, _ := strings.Cut(strings.Trim(text, "()"), " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return math.NaN()
	}
	return n * map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit]
}

// printed wants the lines in out, in their order, and one right after the other but for "...".
func printed(out string, lines []string) error {
	clean := func(s string) string { return squeezed(sizes.ReplaceAllString(s, "(SIZE)")) }
	var have, raw []string
	for line := range strings.Lines(out) {
		have, raw = append(have, clean(line)), append(raw, line)
	}
	next, near := 0, false
	for _, l := range lines {
		if strings.TrimSpace(l) == "..." {
			near = false
			continue
		}
		at := slices.IndexFunc(have[next:], func(h string) bool { return strings.HasPrefix(h, strings.TrimSuffix(clean(l), " ")) })
		if at < 0 || near && at > 0 {
			return fmt.Errorf("the page says that it prints\n%s\nit prints\n%s", strings.Join(lines, "\n"), out)
		}
		if !sameSizes(raw[next+at], l) {
			return fmt.Errorf("the page says that it prints\n%s\nit prints\n%s", l, raw[next+at])
		}
		next, near = next+at+1, true
	}
	return nil
}

// wordsOf are the words of a command; what stands in double quotes is of one word.
var wordsOf = regexp.MustCompile(`(?:"[^"]*"|[^\s"])+`)

// present looks for what a command that is not run names: the target of make, the package and the test of go, ripc's flags.
func present(t *testing.T, root, ripc, page string, c shown) {
	t.Helper()
	words := wordsOf.FindAllString(strings.ReplaceAll(c.text, "'", ""), -1)
	fail := func(format string, args ...any) {
		t.Errorf("%s:%d: %s: %s", page, c.line, c.text, fmt.Sprintf(format, args...))
	}
	switch words[0] {
	case "make":
		dir := filepath.Join(root, filepath.Dir(page))
		if len(words) > 2 && words[1] == "-C" {
			below := filepath.Join(dir, words[2])
			if _, err := os.Stat(below); err != nil { // from the top folder, then
				below = filepath.Join(root, words[2])
			}
			dir, words = below, words[2:]
		}
		rules, err := os.ReadFile(filepath.Join(dir, "Makefile"))
		if err != nil {
			rules, err = os.ReadFile(filepath.Join(root, "Makefile")) // pages of docs speak of the top folder
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words[1:] {
			if !strings.Contains(w, "=") && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(w)+`:`).Match(rules) {
				fail("the Makefile has no target %s", w)
			}
			if name, _, ok := strings.Cut(w, "="); ok && !strings.Contains(string(rules), "$("+name+")") {
				fail("the Makefile has no variable %s", name)
			}
		}
	case "go":
		for i, w := range words {
			if strings.HasPrefix(w, "./") && !strings.HasSuffix(w, "...") {
				if files, _ := filepath.Glob(filepath.Join(root, w, "*.go")); len(files) == 0 {
					fail("there is no package %s", w)
				}
			}
			if w == "-run" {
				var all strings.Builder
				files, _ := filepath.Glob(filepath.Join(root, words[2], "*_test.go"))
				for _, f := range files {
					data, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					all.Write(data)
				}
				if test := strings.Trim(words[i+1], "^$"); !strings.Contains(all.String(), "func "+test) {
					fail("%s has no %s", words[2], test)
				}
			}
		}
	case "bin/ripc", "ripc":
		cmd := exec.CommandContext(t.Context(), ripc, append(words[1:], "--help")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			fail("%v\n%s", err, out)
		}
		for _, w := range words[2:] {
			if strings.HasPrefix(w, "examples/") || strings.HasPrefix(w, "testdata/") {
				if _, err := os.Stat(filepath.Join(root, w)); err != nil {
					fail("%v", err)
				}
			}
		}
	}
}

// TestPrinted: what a page says is compared line by line.
func TestPrinted(t *testing.T) {
	t.Parallel()
	const out = "one\ntwo   2\nwrote x (70.4 KiB)\nfour\n"
	for _, c := range []struct {
		lines string
		want  bool
	}{
		{"one\ntwo 2", true}, {"one\n...\nfour", true}, {"wrote x (71 KiB)\nfour", true}, {"wrote x (71 B)", false}, {"two", true},
		{"one\nfour", false}, {"two 3", false}, {"four\none", false}, {"...\nfive", false},
	} {
		if err := printed(out, strings.Split(c.lines, "\n")); (err == nil) != c.want {
			t.Errorf("%q: %v", c.lines, err)
		}
	}
}

// TestBlocks: commands are found in indented and fenced text and in sentences, with what they print.
func TestBlocks(t *testing.T) {
	t.Parallel()
	page := "Text\n\n    bin/ripc compile a.json  # a remark\n    make build\n\n    it says\n    this\n\nText `bin/ripc verify\nb.json` says `all equal`.\n" +
		"```\nbin/ripc bench c.json\n```\n```go\nripc x\n```\n`bin/ripc COMMAND`\n    bin/ripc inspect |\n      awk x\n"
	var got []string
	for _, c := range commands(page) {
		got = append(got, fmt.Sprintf("%d %s => %s", c.line, c.text, strings.Join(c.prints, "/")))
	}
	want := []string{"3 bin/ripc compile a.json => ", "4 make build => it says/this", "9 bin/ripc verify b.json => all equal", "12 bin/ripc bench c.json => ", "18 bin/ripc inspect |\n  awk x => "}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
