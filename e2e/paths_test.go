package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPaths: files and folders that the documents name or link to are there, and no page has the marks of a merge.
func TestPaths(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([a-z0-9_]+/[A-Za-z0-9_./-]+)`")
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`") // Go's generic calls look like links
	linked := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	checked := 0
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../examples/*/README.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains("\n"+string(text), "\n<<<<<<< ") || strings.Contains(string(text), "\n>>>>>>> ") {
				t.Errorf("%s has the marks of a merge", page)
			}
			if filepath.Base(page) == "CHANGELOG.md" {
				continue // what was
			}
			for _, m := range linked.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
				checked++
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
					t.Errorf("%s links to %s: %v", page, m[1], err)
				}
			}
			planned := string(regexp.MustCompile(`(?m)^Planned, and not there yet: .*$`).Find(text))
			for _, m := range named.FindAllStringSubmatch(string(text), -1) {
				top, _, _ := strings.Cut(m[1], "/")
				if info, err := os.Stat(filepath.Join("..", top)); err != nil || !info.IsDir() || top == "build" || top == "bin" || strings.Contains(planned, m[0]) ||
					regexp.MustCompile(`[A-Z]{3,}|\.\.\.|\*`).MatchString(strings.TrimSuffix(m[1], "README.md")) {
					continue // of a user, planned, or with a placeholder
				}
				checked++
				if found, err := filepath.Glob(filepath.Join("..", m[1])); err != nil || len(found) == 0 {
					t.Errorf("%s names %s, which is not there", page, m[1])
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d paths", checked)
	}
}
