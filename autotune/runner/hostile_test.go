package runner_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"ripc/autotune/runner"
	"ripc/runtime"
	"ripc/targets"
)

// endless gives its beginning and then zeros, and counts what is read.
type endless struct {
	begin io.Reader
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.begin.Read(p)
	if err == io.EOF {
		clear(p)
		n, err = len(p), nil
	}
	e.read += n
	return n, err
}

// hello is what a worker begins with.
func hello() string {
	return runner.Magic + string(runner.Frame('J', fmt.Appendf(nil, `{"worker":{"protocol":%q}}`, runner.Protocol)))
}

// TestUnaskedFrames: what nobody asked for is refused by its first bytes, however much follows.
func TestUnaskedFrames(t *testing.T) {
	const most = 1 << 18 // buffers
	job := runner.NewJob([]byte("library"), nil, runner.Settings{})
	measure := func(c runner.Client) error { _, err := c.Measure(job); return err }
	run := func(c runner.Client) error { return c.Run([]byte("library"), 1000) }
	ran := string(runner.Frame('J', []byte(`{"ran":{"results":[{}]}}`)))
	blob := func(size int) string {
		return string(append([]byte{'B'}, byte(size>>24), byte(size>>16), byte(size>>8), byte(size)))
	}
	need := string(runner.Frame('J', fmt.Appendf(nil, `{"need":[%q,%[1]q]}`, runner.Hash([]byte("library")))))
	for name, c := range map[string]struct {
		begin string
		ask   func(runner.Client) error
	}{
		"a blob in the place of the greeting": {runner.Magic + blob(1<<28), nil},
		"a blob in the place of a result":     {hello() + blob(1<<28), measure},
		"a blob in the place of a batch":      {hello() + blob(1<<28), run},
		"a blob of another size":              {hello() + ran + blob(1001), run},
		"a large blob":                        {hello() + ran + blob(1<<28), run},
		"a short blob":                        {hello() + ran + blob(999), run},
		"a message in the place of a blob":    {hello() + ran + string(runner.Frame('J', []byte("{}"))), run},
		"more outputs":                        {hello() + string(runner.Frame('J', []byte(`{"ran":{"results":[{"outputs":9}]}}`))) + blob(1000), run},
		"a workspace":                         {hello() + string(runner.Frame('J', []byte(`{"ran":{"results":[{"outputs":1,"workspace":true}]}}`))) + blob(1000), run},
		"a blob that is needed twice":         {hello() + need, measure},
	} {
		in := &endless{begin: strings.NewReader(c.begin)}
		client, err := runner.NewClient(in, io.Discard)
		if err == nil && c.ask != nil {
			err = c.ask(client)
		}
		if refused := (*runner.MessageError)(nil); !errors.As(err, &refused) || in.read > most {
			t.Errorf("%s: %v, %d bytes were read", name, err, in.read)
		}
	}
	in := &endless{begin: strings.NewReader(blob(1 << 28))}
	err := runner.Serve(t.Context(), &fake{}, runner.Announcement{}, in, io.Discard)
	if refused := (*runner.MessageError)(nil); !errors.As(err, &refused) || in.read > most {
		t.Errorf("to a worker: %v, %d bytes were read", err, in.read)
	}
}

// TestHostileTexts: texts of a worker cannot do anything to a terminal, and are not shown at any length.
func TestHostileTexts(t *testing.T) {
	const escape = `\u001b[2J\u009b31m\u202e\r`
	job := runner.NewJob([]byte("library"), nil, runner.Settings{})
	long := strings.Repeat("x", 500_000)
	texts := func(name, said string, err error) {
		if said == "" && err != nil {
			said = err.Error()
		}
		if strings.ContainsFunc(said, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) || said == "" || len(said) > 5000 {
			t.Errorf("%s: %d bytes: %.200q", name, len(said), said)
		}
	}
	frame := func(text string) string { return string(runner.Frame('J', []byte(text))) }
	c, err := runner.NewClient(strings.NewReader(hello()+frame(`{"error":"`+escape+long+`"}`)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Measure(job)
	texts("an error", "", err)
	c, err = runner.NewClient(strings.NewReader(runner.Magic+frame(`{"worker":{"protocol":"ripc.worker/1","cpu":"`+escape+`"}}`)+
		frame(`{"ran":{"died":{"Path":"`+escape+`","Status":"`+escape+`","Output":"`+escape+long+`"}}}`)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	texts("the CPU", c.Worker().CPU, nil)
	texts("a crash", "", c.Run([]byte("library"), 1))
	c, err = runner.NewClient(strings.NewReader(hello()+frame(`{"result":{"id":"`+job.ID+`","measurement":{"failure":{"kind":"crash","text":"`+escape+long+`"}},"machine":{"cpu":"`+escape+`"}}}`)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Measure(job)
	if err != nil {
		t.Fatal(err)
	}
	texts("a failure", r.Measurement.Failure.Text, nil)
	texts("a machine", r.Machine.CPU, nil)
	_, err = runner.NewClient(strings.NewReader("\x1b[2J"+long), io.Discard)
	texts("a banner", "", err)
	_, err = runner.NewClient(strings.NewReader(runner.Magic+frame(`{"\u001b[2J`+long+`":1}`)), io.Discard)
	texts("an unknown field", "", err)
}

// TestSilentGreeting: a worker that says nothing, or no end of something, is waited for a while, and what was waited for is said.
func TestSilentGreeting(t *testing.T) {
	buildWorker(t, runtime.HostArch())
	host, err := targets.Lookup(targets.HostName)
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"silence":                     "exec sleep 1000",
		"a byte now and then":         "while :; do printf x; sleep 0.1; done",
		"the beginning of a greeting": `printf '\000ripc.worker/1\nJ'; exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ssh := filepath.Join(t.TempDir(), "ssh")
			if err := os.WriteFile(ssh, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			o := runner.WithPatience(runner.Options{SSH: []string{ssh}}, 700*time.Millisecond)
			_, err := runner.Open(t.Context(), "ssh:board", host, o)
			var silent *runner.SilentError
			if !errors.As(err, &silent) || !strings.Contains(err.Error(), "the worker's greeting did not come within 700ms") {
				t.Error(err)
			}
		})
	}
}
