package simulate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Some builds of qemu-user have no plugins (Debian 13). Their log of executed pieces gives the same
// counts, but takes longer.

// hasPlugins reports whether a qemu-user can load the counter.
func hasPlugins(ctx context.Context, qemu string) (bool, error) {
	help, err := ask(ctx, qemu, "-h")
	return bytes.Contains(help, []byte("-plugin")), err
}

// logFile is the file descriptor of the log in qemu, behind the standard ones.
const logFile = "/dev/fd/3"

// logOptions make qemu log the instructions of each piece that it translates, and each piece that
// it executes.
func logOptions() []string { return []string{"-d", "in_asm,exec,nochain", "-D", logFile} }

// readLog reads a log: a profile of each job, for the size bytes of program at address at. A job is
// everything that is executed there until control returns to the runner.
func readLog(log io.Reader, at, size uint64) ([]*Profile, error) {
	type run struct {
		Piece
		jumps map[uint64]uint64 // to addresses
	}
	var jobs []*Profile
	pieces := map[string]*run{} // by qemu's address of the translation
	var executed map[*run]bool  // in the last job
	end := func() {
		if executed == nil {
			return
		}
		p := &Profile{}
		for r := range executed {
			p.Pieces = append(p.Pieces, r.Piece)
			for to, times := range r.jumps {
				p.Jumps = append(p.Jumps, Jump{r.Last, to, times})
			}
			r.Times, r.jumps = 0, map[uint64]uint64{}
		}
		p.merge()
		jobs, executed = append(jobs, p), nil
	}
	var translated, before *run
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "IN:"):
			translated = &run{jumps: map[uint64]uint64{}}
		case strings.HasPrefix(text, "0x") && translated != nil:
			address, _, _ := strings.Cut(text[2:], ":")
			a, err := strconv.ParseUint(address, 16, 64)
			if err != nil {
				return nil, fmt.Errorf("simulate: qemu logs %q: %w", text, err)
			}
			if translated.Instructions++; translated.Instructions == 1 {
				translated.First = a - at
			}
			translated.Last = a - at
		case strings.HasPrefix(text, "Trace "):
			f := strings.Fields(text)
			if len(f) < 3 {
				return nil, fmt.Errorf("simulate: qemu logs %q", text)
			}
			if translated != nil {
				pieces[f[2]], translated = translated, nil
			}
			now := pieces[f[2]]
			switch {
			case now == nil:
				return nil, fmt.Errorf("simulate: qemu logs %q, and not its instructions", text)
			case now.First >= size:
				end()
				before = nil
				continue
			case executed == nil:
				executed = map[*run]bool{}
			}
			executed[now] = true
			now.Times++
			if before != nil {
				before.jumps[now.First]++
			}
			before = now
		}
	}
	end()
	return jobs, lines.Err()
}
