package main

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTableWidth: where a terminal is narrow, columns go in their order, and the table says which.
func TestTableWidth(t *testing.T) {
	tab := table{columns: []column{{title: "NAME", left: true}, {title: "N", drop: 2}, {title: "NOTHING"}, {title: "KERNEL", left: true, drop: 1}}}
	tab.add("a", "100", "", "long_kernel")
	tab.add("bü", "2", "", "k")
	for width, want := range map[int]string{
		0:  "NAME    N  KERNEL\na     100  long_kernel\nbü      2  k\n",
		22: "NAME    N  KERNEL\na     100  long_kernel\nbü      2  k\n",
		21: "NAME    N\na     100\nbü      2\n\n(without KERNEL, for want of width:\n--wide shows all)\n",
		8:  "NAME\na\nbü\n\n(without KERNEL, N, for want of width:\n--wide shows all)\n",
		1:  "NAME\na\nbü\n\n(without KERNEL, N, for want of width:\n--wide shows all)\n",
	} {
		var b bytes.Buffer
		if tab.write(&b, width); b.String() != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
}

// Where that is enough, long cells are cut: of names the ends are left, of sentences the beginning. What belongs below a row is wrapped.
func TestTableCuts(t *testing.T) {
	tab := table{columns: []column{{title: "LAYER", left: true, cut: cutMiddle}, {title: "KERNEL", left: true, drop: 1}, {title: "REASON", left: true, cut: cutTail}}}
	tab.add("model/first/FusedBatchNorm", "kernel", "its input is not quantized")
	tab.addBelow("one word behind another, in lines that fit")
	tab.add("fc", "k", "")
	for width, want := range map[int]string{
		0:  "LAYER                       KERNEL  REASON\nmodel/first/FusedBatchNorm  kernel  its input is not quantized\n       one word behind another, in lines that fit\nfc                          k\n",
		46: "LAYER                 KERNEL  REASON\nmodel/fir…dBatchNorm  kernel  its input is no…\n       one word behind another, in lines that\n         fit\nfc                    k\n\n(LAYER, REASON cut, for want of width: --wide\nshows all)\n",
		36: "LAYER               REASON\nmodel/fi…BatchNorm  its input is no…\n       one word behind another, in lines\n         that fit\nfc\n\n(without KERNEL; LAYER, REASON cut, for\nwant of width: --wide shows all)\n",
	} {
		var b bytes.Buffer
		if tab.write(&b, width); b.String() != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
}

// TestWidthOfTerminal: tables fit the terminal that standard output is, and nothing else has a width.
func TestWidthOfTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer terminal.Close()
	const width = 72
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	out := &output{to: terminal}
	if w := widthOf(out, false); w != width {
		t.Errorf("standard output is %d wide, want %d", w, width)
	}
	if w := widthOf(out, true); w != 0 {
		t.Errorf("with --wide it is %d wide", w)
	}
	if w := widthOf(&output{to: &bytes.Buffer{}}, false); w != 0 {
		t.Errorf("what is no terminal is %d wide", w)
	}
}
