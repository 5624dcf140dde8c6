package records_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ripc/autotune/records"
)

// writerFile, in the environment, makes this program a tuner that appends to that file for ever.
const writerFile = "RIPC_TEST_RECORDS_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		if err := write(path, 1<<30); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// write appends n records, numbered, with traces of many lengths, and says of each that it is there.
func write(path string, n int) error {
	f, err := records.Open(path)
	if err != nil {
		return err
	}
	for i := range n {
		r := sample(i, 100)
		r.Origin.Seed = uint64(os.Getpid())
		r.Candidate.Trace = []string{strings.Repeat("step ", 1+i*37%3000)}
		if err := f.Append(r); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return f.Close()
}

// TestKill kills two tuners on one file at any moment, 25 times. What they said to be there is there, and nothing is damaged but
// the torn end, which the next one cuts off.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	for round := range 25 {
		said := map[int]int{} // by process, the last record
		var wait sync.WaitGroup
		var writers [2]*exec.Cmd
		var outputs [2]bytes.Buffer
		for i := range writers {
			writers[i] = exec.Command(os.Args[0])
			writers[i].Env = append(os.Environ(), writerFile+"="+path)
			writers[i].Stdout, writers[i].Stderr = &outputs[i], os.Stderr
			if err := writers[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(20+round*round%50) * time.Millisecond)
		for i, w := range writers {
			if err := w.Process.Kill(); err != nil {
				t.Fatalf("writer %d ended by itself: %v", i, err)
			}
			wait.Go(func() { _ = w.Wait() })
		}
		wait.Wait()
		for i, w := range writers {
			lines := strings.Split(outputs[i].String(), "\n") // the last is torn or empty
			said[w.Process.Pid] = -1
			if len(lines) > 1 {
				last, err := strconv.Atoi(lines[len(lines)-2])
				if err != nil {
					t.Fatal(err)
				}
				said[w.Process.Pid] = last
			}
		}
		s, err := records.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Damaged {
			if !d.Torn {
				t.Fatalf("round %d: %v", round, &d)
			}
		}
		next := map[int]int{}
		for _, r := range s.Records {
			pid := int(r.Origin.Seed)
			if _, ok := said[pid]; !ok {
				continue
			}
			if r.Origin.Trial != next[pid] {
				t.Fatalf("round %d: record %d of %d follows %d", round, r.Origin.Trial, pid, next[pid]-1)
			}
			next[pid]++
		}
		for pid, last := range said {
			if next[pid] <= last {
				t.Fatalf("round %d: %d said that record %d is there, and %d are", round, pid, last, next[pid])
			}
		}
	}
	appendTo(t, path, sample(0, 1))
	s, err := records.Load(path)
	if err != nil || len(s.Damaged) > 0 || len(s.Records) < 25 {
		t.Errorf("%v, damaged %v, %d records", err, s.Damaged, len(s.Records))
	}
}

// TestTwoFiles appends to a file from several goroutines and two Files, while another rewrites it.
func TestTwoFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	appendTo(t, path, sample(0, 1))
	var wait sync.WaitGroup
	const each = 40
	for w := range 2 {
		f, err := records.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for g := range 2 {
			wait.Go(func() {
				for i := range each {
					r := sample(i, 100)
					r.Origin.Seed = uint64(10*w + g)
					if err := f.Append(r); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wait.Go(func() {
		for range 20 {
			if err := records.Rewrite(path, func(s *records.Set) (*records.Set, error) { return s, nil }); err != nil {
				t.Error(err)
			}
		}
	})
	wait.Wait()
	s, err := records.Load(path)
	if err != nil || len(s.Damaged) > 0 || len(s.Records) != 4*each+1 {
		t.Errorf("%v, damaged %v, %d records, want %d", err, s.Damaged, len(s.Records), 4*each+1)
	}
}

func TestRewriteFails(t *testing.T) {
	dir := t.TempDir()
	same := func(s *records.Set) (*records.Set, error) { return s, nil }
	if err := records.Rewrite(filepath.Join(dir, "none"), same); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	path := filepath.Join(dir, "r.jsonl")
	appendTo(t, path, sample(0, 1), sample(1, 2))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := records.Rewrite(link, func(s *records.Set) (*records.Set, error) { return s.Prune(1), nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if s, err := records.Load(path); err != nil || len(s.Records) != 1 {
		t.Errorf("%v, %d records, want the default, which is the best too", err, len(s.Records))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want file and link", left, err)
	}
}
