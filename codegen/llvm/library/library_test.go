package library_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ripc/codegen/llvm/library"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/targets"
)

// installed is the library of the tools, and their version.
func installed(t *testing.T) (file, version string) {
	t.Helper()
	tools, err := toolchain.Find()
	need.OK(t, err)
	llc, err := tools.Path("llc")
	need.OK(t, err)
	opt, err := tools.Path("opt")
	need.OK(t, err)
	file, ok := library.Of(opt, llc)
	if !ok {
		t.Skip("skipped: opt and llc have no shared library in common that can be loaded here")
	}
	return file, tools.Version()
}

// settings are for a target, with these flags for llc.
func settings(t *testing.T, target string, llc ...string) library.Settings {
	t.Helper()
	tg, err := targets.Lookup(target)
	if err != nil {
		t.Fatal(err)
	}
	row, _ := rows.Of(tg)
	return library.Settings{Backend: row.Backend, Triple: row.Triple, CPU: row.CPU, Attrs: row.Attrs, Passes: "default<O2>", LLC: llc, Level: 3}
}

const addLL = "define i32 @f(i32 %a) {\n  %b = add i32 %a, 7\n  ret i32 %b\n}\n"

// longLL takes LLVM seconds.
func longLL() []byte {
	b := []byte("define void @f(ptr %p) {\n")
	for i := range 60000 {
		b = fmt.Appendf(b, "  %%a%d = load volatile i32, ptr %%p\n  %%b%d = mul i32 %%a%d, %%a%d\n  store volatile i32 %%b%d, ptr %%p\n", i, i, i, i, i)
	}
	return append(b, "  ret void\n}\n"...)
}

// ended waits until a process is no more; it may be a zombie for a moment.
func ended(t *testing.T, p *os.Process) {
	t.Helper()
	for range 500 {
		if p.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", p.Pid)
}

// TestChild: a child is used again, for the same settings, until it has compiled enough, and others wait beside it, up to GOMAXPROCS.
func TestChild(t *testing.T) {
	l := library.New(installed(t))
	compile := func(s library.Settings) []byte {
		t.Helper()
		obj, err := l.Compile(t.Context(), s, []byte(addLL))
		if err != nil || !bytes.HasPrefix(obj, []byte("\x7fELF")) {
			t.Fatal(len(obj), err)
		}
		return obj
	}
	obj := compile(settings(t, "rpi3"))
	first := l.Idle()[0]
	if !bytes.Equal(compile(settings(t, "rpi3")), obj) || len(l.Idle()) != 1 || l.Idle()[0] != first {
		t.Error("the second object differs, or comes from another child")
	}
	l.Use(library.Uses)
	compile(settings(t, "rpi3"))
	ended(t, first)
	var all sync.WaitGroup
	for _, target := range []string{"rpi3", "rpi4", "x86-64-v3", "rpi3-armv7", "rpi5"} {
		s := settings(t, target)
		all.Go(func() {
			if _, err := l.Compile(t.Context(), s, []byte(addLL)); err != nil {
				t.Error(target, err)
			}
		})
	}
	all.Wait()
	idle := l.Idle()
	if len(idle) > runtime.GOMAXPROCS(0) {
		t.Errorf("%d children wait", len(idle))
	}
	time.Sleep(library.Patience)
	for _, p := range idle {
		ended(t, p)
	}
}

// TestLimit: a kernel that takes too long is the tools', and the child ends.
func TestLimit(t *testing.T) {
	l := library.New(installed(t))
	l.SetLimit(100 * time.Millisecond)
	if _, err := l.Compile(t.Context(), settings(t, "rpi3"), longLL()); err == nil || !strings.Contains(err.Error(), "it gives no object within 100ms") {
		t.Error(err)
	}
	if len(l.Idle()) > 0 {
		t.Error("the child waits for more")
	}
}

// TestChildEnds with the process that started it, which may be killed.
func TestChildEnds(t *testing.T) {
	l := library.New(installed(t))
	if _, err := l.Compile(t.Context(), settings(t, "rpi3"), []byte(addLL)); err != nil {
		t.Fatal(err)
	}
	for _, wait := range l.CloseRequests() {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestCancel(t *testing.T) {
	l := library.New(installed(t))
	s := settings(t, "rpi3")
	if _, err := l.Compile(t.Context(), s, []byte(addLL)); err != nil {
		t.Fatal(err)
	}
	child := l.Idle()[0]
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := l.Compile(ctx, s, longLL()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ended(t, child)
	if _, err := l.Compile(ctx, s, []byte(addLL)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := l.Compile(t.Context(), s, []byte(addLL)); err != nil || len(l.Unfit()) != 0 {
		t.Error(err, l.Unfit())
	}
}

// TestRefused: what LLVM refuses leaves the child there, and what ends the child leaves the next one.
func TestRefused(t *testing.T) {
	l := library.New(installed(t))
	s := settings(t, "rpi3")
	if _, err := l.Compile(t.Context(), s, []byte(addLL)); err != nil {
		t.Fatal(err)
	}
	child := l.Idle()[0]
	for _, ll := range []string{
		"nonsense",
		"define i32 @f() {\n  ret i64 0\n}\n",
		"define i32 @f(i1 %c) {\n  br i1 %c, label %x, label %y\nx:\n  %v = add i32 1, 1\n  br label %y\ny:\n  ret i32 %v\n}\n", // not dominated
		"target datalayout = \"E\"\n" + addLL,
	} {
		if obj, err := l.Compile(t.Context(), s, []byte(ll)); err == nil || len(obj) != 0 {
			t.Errorf("compiled: %s", ll)
		}
	}
	if l.Idle()[0] != child {
		t.Error("a refusal has ended the child")
	}
	const fatal = "define i32 @f() {\n  %v = call i32 asm \"\", \"={nothing}\"()\n  ret i32 %v\n}\n"
	if obj, err := l.Compile(t.Context(), s, []byte(fatal)); err == nil || len(obj) != 0 {
		t.Errorf("compiled: %s", fatal)
	}
	if _, err := l.Compile(t.Context(), s, []byte(addLL)); err != nil || len(l.Unfit()) != 0 {
		t.Error(err, l.Unfit())
	}
}

// TestUnfit: a library that is not there, is another one or of another version, and flags that it does not know, are asked once.
func TestUnfit(t *testing.T) {
	file, version := installed(t)
	none := filepath.Join(t.TempDir(), "none.so")
	for _, tt := range []struct {
		file, version, flag, want string
	}{
		{none, version, "", "none.so"},
		{"libc.so.6", version, "", "LLVMGetVersion"},
		{file, "1.2.3", "", "the tools are of 1.2.3"},
		{file, version, "-no-such-flag", "ended its process"},
	} {
		l := library.New(tt.file, tt.version)
		s := settings(t, "rpi3")
		if tt.flag != "" {
			s.LLC = []string{tt.flag}
		}
		for range 2 {
			if _, err := l.Compile(t.Context(), s, []byte(addLL)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v", tt, err)
			}
		}
		if len(l.Unfit()) != 1 || len(l.Idle()) != 0 {
			t.Errorf("%+v: %v, %d children", tt, l.Unfit(), len(l.Idle()))
		}
	}
}

// TestNoChild: the variable of children alone, as a user's environment may have it, makes none of a program.
func TestNoChild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "RIPC_LLVM_CHILD=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Errorf("%v: %q", err, out)
	}
}

func TestOf(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "opt")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, programs := range [][]string{nil, {script}, {self}, {filepath.Join(dir, "none")}} {
		if file, ok := library.Of(programs...); ok {
			t.Errorf("%q: %s", programs, file)
		}
	}
}
