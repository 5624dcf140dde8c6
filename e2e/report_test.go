package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ripc"
	"ripc/internal/human"
	"ripc/internal/need"
	"ripc/report"
)

// dumped opens a page in Chromium and gives the document as it is then, and what the page asked a network for, by the browser's own
// log. (The browser asks for things of its own, too, which have no page as their origin.)
func dumped(t *testing.T, page string) (dom string, asked []string) {
	t.Helper()
	chromium := need.Browser(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	logged := filepath.Join(t.TempDir(), "net.json")
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--user-data-dir=" + t.TempDir(), "--log-net-log=" + logged, "--dump-dom", "file://" + page}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, chromium, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	text, err := os.ReadFile(logged)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Events []struct {
			Params struct{ URL, Initiator string }
		}
	}
	if err := json.Unmarshal(text, &log); err != nil || len(log.Events) == 0 {
		t.Fatalf("the browser's log: %d events, %v", len(log.Events), err)
	}
	for _, e := range log.Events {
		if p := e.Params; p.URL != "" && p.Initiator != "" && p.Initiator != "not an origin" {
			asked = append(asked, p.URL)
		}
	}
	return out.String(), asked
}

// TestBrowserLog: what a page asks a network for is in the log that other tests look at.
func TestBrowserLog(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "p.html")
	if err := os.WriteFile(page, []byte(`<html><body><img src="http://ripc.invalid/a.png">text</body></html>`), 0o600); err != nil {
		t.Fatal(err)
	}
	dom, asked := dumped(t, page)
	if !strings.Contains(dom, "text") || !slices.Contains(asked, "http://ripc.invalid/a.png") {
		t.Errorf("the page is %s, and asked for %q", dom, asked)
	}
}

// cells are the texts of the cells of a table's rows.
func cells(t *testing.T, dom, id string) [][]string {
	t.Helper()
	_, table, ok := strings.Cut(dom, `<table id="`+id+`">`)
	if !ok {
		t.Fatalf("no table %s in\n%.2000s", id, dom)
	}
	table, _, _ = strings.Cut(table, "</table>")
	tags := regexp.MustCompile(`<[^>]*>`)
	var rows [][]string
	for _, row := range strings.Split(table, "<tr>")[1:] {
		var texts []string
		for _, c := range regexp.MustCompile(`(?s)<t[dh][ >].*?</t[dh]>`).FindAllString(row, -1) {
			texts = append(texts, html.UnescapeString(tags.ReplaceAllString(c, "")))
		}
		rows = append(rows, texts)
	}
	return rows
}

// TestReport: the page of a network opens in a browser that has no network, and its table and its data say what the report says. make
// thorough reports SqueezeNet as well.
func TestReport(t *testing.T) {
	t.Parallel()
	models := []string{"digits/digits"}
	if need.Thorough() {
		models = append(models, "squeezenet/squeezenet")
	}
	for _, model := range models {
		t.Run(filepath.Base(model), func(t *testing.T) { checkReport(t, "../examples/"+model+".json") })
	}
}

func checkReport(t *testing.T, model string) {
	r, err := ripc.Report(t.Context(), ripc.ReportRequest{Path: model, Options: ripc.Options{Target: "rpi3"}, Threads: 1, Command: "ripc report 'a b'"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Twin == nil || r.Bench.EstimatedCycles == nil || *r.Twin.Bench.EstimatedCycles < 2**r.Bench.EstimatedCycles {
		t.Fatalf("the network is hardly faster than its float twin: %v, %+v", r.NoTwin, r.Twin)
	}
	var page bytes.Buffer
	if err := report.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"http:", "https:", "url(", " src=", "<link", "@import"} {
		if strings.Contains(page.String(), word) {
			t.Errorf("the page has %q", word)
		}
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	dom, asked := dumped(t, file)
	if len(asked) > 0 {
		t.Errorf("the page asked for %q", asked)
	}

	_, data, _ := strings.Cut(dom, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	want, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if data != string(want) {
		t.Errorf("the data of the page are\n%.500s\nwant\n%.500s", data, want)
	}
	rows := cells(t, dom, "stages")
	if len(rows) != 1+len(r.Inspection.Layers) {
		t.Fatalf("%d rows for %d stages", len(rows), len(r.Inspection.Layers))
	}
	column := map[string]int{}
	for i, title := range rows[0] {
		if _, twice := column[title]; !twice {
			column[title] = i
		}
	}
	for i, l := range r.Inspection.Layers {
		row := rows[i+1]
		cycles := human.Grouped(int64(math.Round(*r.Bench.Layers[i].EstimatedCycles)))
		for title, want := range map[string]string{"Layer": l.Name, "Became": l.Became, "Estimated cycles": cycles} {
			if at, ok := column[title]; !ok || row[at] != want {
				t.Errorf("row %d: %s is %q, want %q", i, title, row, want)
			}
		}
		if macs := row[column["MACs"]]; l.MACs > 0 && macs != human.Grouped(l.MACs) {
			t.Errorf("row %d: %s MACs, want %d", i, macs, l.MACs)
		}
	}
	shown, _, _ := strings.Cut(dom, `<script type="application/json"`)
	shown = html.UnescapeString(shown)
	for _, want := range []string{r.File, r.Command, human.Grouped(r.Inspection.MACs)} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	checkNotes(t, dom, rows, column, r.Inspection.Layers)
	if n := strings.Count(dom, "<circle"); n < len(r.Inspection.Layers) {
		t.Errorf("%d dots for %d stages", n, len(r.Inspection.Layers))
	}
	if n := strings.Count(dom, `class="box`); n != len(r.Inspection.Memory.Arena) || n == 0 {
		t.Errorf("%d boxes for %d tensors of the arena", n, len(r.Inspection.Memory.Arena))
	}
}

// checkNotes tests that each layer with a reason has the number of a note in its row, and that the note below the table is the reason.
func checkNotes(t *testing.T, dom string, rows [][]string, column map[string]int, layers []ripc.Layer) {
	t.Helper()
	reasons := 0
	for i, l := range layers {
		number := rows[i+1][column["Notes"]]
		if l.Reason == nil {
			if l.Note == "" && number != "" {
				t.Errorf("%s has no reason, and note %s", l.Name, number)
			}
			continue
		}
		reasons++
		note := regexp.MustCompile(`<li id="note` + number + `">([^<]*)</li>`).FindStringSubmatch(dom)
		if number == "" || note == nil || html.UnescapeString(note[1]) != l.Reason.Text {
			t.Errorf("%s: note %q is %q, want %q", l.Name, number, note, l.Reason.Text)
		}
	}
	if reasons == 0 {
		t.Error("no layer has a reason")
	}
}

// TestReportOfHostileNames: names of a model are text on the page, whatever they are.
func TestReportOfHostileNames(t *testing.T) {
	t.Parallel()
	model := filepath.Join(t.TempDir(), "m.json")
	const evil = `</script><script>document.title=1</script><img src=x onerror=alert(1)>`
	name, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"format":"ripc.model/1","name":"m","inputs":[{"name":"x","dtype":"f32","shape":[1,8],"layout":"NC"}],"weights":{"init":"random","seed":1},
"nodes":[{"name":%s,"op":"dense","inputs":["x"],"attrs":{"units":4}}],"outputs":[%s]}`, name, name)
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ripc.Report(t.Context(), ripc.ReportRequest{Path: model, Options: ripc.Options{Target: "rpi3"}, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); strings.Contains(s, "<img") || strings.Count(s, "</script>") != 1 {
		t.Errorf("a name of the model is markup of the page:\n%.3000s", s)
	}
}
