package layering

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kilobyte is the unit of the budgets.
const kilobyte = 1024

// budgets are the largest sizes of single pages, in kilobytes; allPages is that of all together.
func budgets() map[string]int {
	return map[string]int{
		"README.md": 9, "ARCHITECTURE.md": 18, "RATIONALE.md": 20, "CHANGELOG.md": 6, "CONTRIBUTING.md": 10,
	}
}

const allPages = 300

// wordy are the exceptions from the rules of words: how a sentence begins, and the reason. There are
// at most ten.
func wordy() map[string]string {
	return map[string]string{
		"Those without which some network": "the number is the rule by which variants stay",
	}
}

// TestPagesSizes: the pages keep their budgets.
func TestPagesSizes(t *testing.T) {
	sum := 0
	for path, text := range pages(t) {
		sum += len(text)
		if most, ok := budgets()[path]; ok && len(text) > most*kilobyte {
			t.Errorf("%s has %d bytes, and may have %d: move a part to another page", path, len(text), most*kilobyte)
		}
	}
	if sum > allPages*kilobyte {
		t.Errorf("all pages together have %d bytes, and may have %d", sum, allPages*kilobyte)
	}
	for path := range budgets() {
		if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
			t.Error(err)
		}
	}
}

// TestPagesWords: sentences of pages are short and call things by their nouns, and measurements are
// written by commands alone.
func TestPagesWords(t *testing.T) {
	used := map[string]bool{}
	for path, text := range pages(t) {
		if strings.Contains(path, "testdata/") && !strings.HasSuffix(path, "README.md") {
			continue // expected outputs
		}
		made := strings.Contains(text, byCommand)
		for _, s := range sentences(text) {
			found := faults(s.text)
			if made { // its measurements are a command's
				found = slices.DeleteFunc(found, func(f string) bool { return f == measured })
			}
			if len(found) == 0 {
				continue
			}
			excused := false
			for begin := range wordy() {
				if strings.HasPrefix(s.text, begin) {
					used[begin], excused = true, true
				}
			}
			if excused {
				continue
			}
			t.Errorf("%s:%d: %s: %s", path, s.line, strings.Join(found, ", "), s.text)
		}
	}
	if len(wordy()) > 10 {
		t.Errorf("%d exceptions", len(wordy()))
	}
	for begin := range wordy() {
		if !used[begin] {
			t.Errorf("no page has a fault in a sentence that begins with %q; take it off the list", begin)
		}
	}
}

// TestPagesLinks: a link to a heading finds it.
func TestPagesLinks(t *testing.T) {
	all, checked := pages(t), 0
	for path, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^)\s:#]*)#([^)\s]+)\)`).FindAllStringSubmatch(unlisted(text), -1) {
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			checked++
			if !slices.Contains(anchors(all[to]), m[2]) {
				t.Errorf("%s: %s has no heading #%s; it has %s", path, to, m[2], strings.Join(anchors(all[to]), ", "))
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d links to headings", checked)
	}
}

// TestPagesMap: ARCHITECTURE.md names every package, or a folder that it lies in.
func TestPagesMap(t *testing.T) {
	text := pages(t)["ARCHITECTURE.md"]
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `[^|]*\\|").FindAllString(text, -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			named = append(named, m[1])
		}
	}
	for _, r := range Table() {
		if !slices.ContainsFunc(named, func(n string) bool {
			folder, whole := strings.CutSuffix(n, "/...")
			return r.Package == n || whole && (r.Package == folder || strings.HasPrefix(r.Package, folder+"/"))
		}) {
			t.Errorf("ARCHITECTURE.md names neither %s nor its folder", r.Package)
		}
	}
}

// TestFaults: each rule finds what it is for.
func TestFaults(t *testing.T) {
	long := strings.Repeat("word ", mostWords+1)
	for text, want := range map[string]string{
		"It prints what it found.":                  "what",
		"Which is it, and what is missing?":         "",
		"Buffers of which some are words.":          "of which",
		"A layer whose weights are bits.":           "whose",
		"So many vectors.":                          "so many",
		long + ".":                                  fmt.Sprintf("%d words", mostWords+1),
		"It takes 7 % less time.":                   "a measurement",
		"It takes 0.3 ms.":                          "a measurement",
		"Accumulators are proved wide enough; all.": "",
	} {
		var got string
		for _, s := range sentences(text) {
			got = strings.Join(append([]string{}, faults(s.text)...), ", ") + got
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	const page = "# What is it?\n\nOne `what` here: [what](x.md)\ngoes on.\n\n    what\n\n```\nwhat\n```\n" +
		"<!-- a: begin -->\nwhat\n<!-- a: end -->\n\n" +
		"- An item\n- Another; more\n\n| head | x |\n|---|---|\n| a cell | b |\n"
	var got []string
	for _, s := range sentences(page) {
		got = append(got, fmt.Sprintf("%d %s", s.line, s.text))
	}
	want := []string{
		"1 What is it?", "3 One code here:", "3 what goes on.", "15 An item", "16 Another;", "16 more",
		"18 head", "18 x", "20 a cell", "20 b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// mostWords are those of a sentence.
const mostWords = 30

// measured is the fault of a sentence with a figure of speed or a CPU.
const measured = "a measurement"

// byCommand is in pages that a command writes as a whole.
const byCommand = "do not edit. -->"

// faults are the rules of words that a sentence breaks.
func faults(sentence string) []string {
	var found []string
	for _, r := range []struct{ name, pattern string }{
		{"of which", `(?i)\bof which\b`},
		{"whose", `(?i)\bwhose\b`},
		{"so many", `(?i)\bso many\b|\bsuch as it is\b|\bwhat there is\b`},
		{measured, `\d\s?%|\bper cent\b|\d (ms|us|ns)\b|\bZen \d|\bXeon\b|\bEPYC\b`},
	} {
		if regexp.MustCompile(r.pattern).MatchString(sentence) {
			found = append(found, r.name)
		}
	}
	if !strings.HasSuffix(sentence, "?") && regexp.MustCompile(`(?i)\bwhat\b`).MatchString(sentence) {
		found = append(found, "what")
	}
	if n := len(regexp.MustCompile(`[A-Za-z']+`).FindAllString(sentence, -1)); n > mostWords {
		found = append(found, fmt.Sprintf("%d words", n))
	}
	return found
}

// sentence is one of a page, with the line on which its paragraph begins.
type sentence struct {
	line int
	text string
}

// sentences splits the paragraphs, items, headings and cells of a page. Listings, and parts that
// commands write, have none.
func sentences(page string) []sentence {
	var out []sentence
	var paragraph []string
	start := 0
	code := regexp.MustCompile("`[^`]*`")
	image, link := regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`), regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	flush := func() {
		text := strings.Join(paragraph, " ")
		paragraph = nil
		text = link.ReplaceAllString(image.ReplaceAllString(code.ReplaceAllString(text, "code"), ""), "$1")
		text = strings.NewReplacer("**", "", "*", "").Replace(text)
		for _, s := range regexp.MustCompile(`(.*?[.;:?!])(?:\s+|$)|(.+)$`).FindAllString(text, -1) {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, sentence{start, s})
			}
		}
	}
	add := func(line int, text string) {
		if len(paragraph) == 0 {
			start = line
		}
		paragraph = append(paragraph, strings.TrimSpace(text))
	}
	item := regexp.MustCompile(`^\s*([-*]|\d+\.) +`)
	for i, line := range strings.Split(unlisted(page), "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case strings.HasPrefix(line, "#"):
			flush()
			add(i+1, strings.TrimLeft(line, "# "))
			flush()
		case strings.HasPrefix(line, "|"):
			flush()
			if strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| --") {
				continue
			}
			for cell := range strings.SplitSeq(strings.Trim(strings.ReplaceAll(line, `\|`, "/"), "|"), "|") {
				add(i+1, cell)
				flush()
			}
		case item.MatchString(line):
			flush()
			add(i+1, item.ReplaceAllString(line, ""))
		default:
			add(i+1, line)
		}
	}
	flush()
	return out
}

// unlisted empties the lines of a page that are listings, comments, or parts that commands write.
func unlisted(page string) string {
	lines := strings.Split(page, "\n")
	fenced, written, whole, prose := false, false, strings.Contains(page, byCommand), false
	for i, line := range lines {
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence:
			fenced = !fenced
			lines[i] = ""
		case fenced:
			lines[i] = ""
		case strings.HasPrefix(line, "<!--"):
			begins, ends := regexp.MustCompile(`\bbegin\b`), regexp.MustCompile(`\bend\b`)
			written = begins.MatchString(line) || written && !ends.MatchString(line)
			lines[i] = ""
		case written, whole && (strings.HasPrefix(line, "|") || strings.HasPrefix(line, "Measured on ")):
			lines[i] = ""
		case strings.HasPrefix(line, "    ") && !prose:
			lines[i] = ""
			continue
		}
		prose = strings.TrimSpace(lines[i]) != "" && !fence
	}
	return strings.Join(lines, "\n")
}

// anchors are the names by which links find the headings of a page.
func anchors(page string) []string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ToLower(strings.TrimLeft(line, "# "))
		name = regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(name, "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

// pages are the texts of all pages of the repository, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "build" || name == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil || len(all) < 40 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}
