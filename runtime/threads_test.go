package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ripc/runtime"
)

// limitedRun, in the environment, makes this program load that artifact and open sessions with a limit of threads.
const limitedRun = "RIPC_TEST_LIMITED_RUN"

func TestMain(m *testing.M) {
	if path := os.Getenv(limitedRun); path != "" {
		if err := limitedSessions(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// limitedSessions opens sessions as a user who may have few threads. Those that cannot be had are errors, others work.
func limitedSessions(path string) error {
	const limit, nobody = 40, 54321
	m, err := runtime.Load(path)
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	if err := syscall.Setuid(nobody); err != nil {
		return err
	}
	for round := range 20 {
		for _, threads := range []int{256, 64, limit} {
			_, err := m.NewSession(threads)
			var no *runtime.ThreadsError
			if !errors.As(err, &no) || !errors.Is(err, syscall.EAGAIN) || no.Got >= no.Needed || no.Got < 1 {
				return fmt.Errorf("round %d, %d threads: %v", round, threads, err)
			}
			if round == 0 {
				fmt.Println(err)
			}
		}
		for _, threads := range []int{8, 2, 1} {
			if key, err := keyOf(m, threads); err != nil || key != 85 {
				return fmt.Errorf("round %d, %d threads: %d, %v", round, threads, key, err)
			}
		}
	}
	// As many sessions as there are threads for.
	for n := 0; ; n++ {
		s, err := m.NewSession(4)
		if err == nil {
			defer s.Close()
			continue
		}
		if no := (*runtime.ThreadsError)(nil); !errors.As(err, &no) || n == 0 {
			return fmt.Errorf("after %d sessions: %v", n, err)
		}
		break
	}
	return nil
}

// TestThreadLimit: threads beyond the limit of a user are an error, and the program goes on.
func TestThreadLimit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can be another user, to whom a limit applies")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), limitedRun+"="+build(t, twoStage(), nil), "GOMAXPROCS=3")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "a session of 256 threads, with Go's own, needs 258 new ones, and the system gives ") {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

// TestThreadsGoneAgain: a session leaves no threads of its own behind, and none that were held for it.
func TestThreadsGoneAgain(t *testing.T) {
	m, err := runtime.Load(build(t, twoStage(), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	count := func() int {
		all, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if _, err := keyOf(m, 16); err != nil {
		t.Fatal(err)
	}
	before := count()
	for range 50 {
		if _, err := keyOf(m, 16); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(5 * time.Second); count() > before+16; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(strconv.Itoa(count()) + " threads, before there were " + strconv.Itoa(before))
		}
	}
}
