// Command check compares logits that ripc computed for the test digits with the true digits and with the logits of the
// framework that trained the network.
//
//	ripc run examples/digits/digits.json --input examples/digits/data/x_test.npy --output out
//	go run ./examples/digits/check out/output_0.npy
//
// The file may hold the first rows only. It prints one line, and ends with exit code 1 if more than 5 of 360 digits (the
// same share of fewer) are wrong, or if a logit is off by more than 1e-3.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	classes     = 10
	allowed     = 5.0 / 360 // share of digits that may be wrong
	maxDistance = 1e-3
)

func main() {
	data := flag.String("data", "examples/digits/data", "folder of y_test.npy and w1a2_logits_torch.npy")
	logits := flag.String("logits", "", "another file of true logits, for another network")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: check [-data DIR] [-logits F.npy] output_0.npy")
		os.Exit(2)
	}
	line, err := check(flag.Arg(0), *data, *logits)
	if line != "" {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// check reads the files and judges; the line is its result in words.
func check(file, data, logits string) (string, error) {
	whose := "the reference's"
	if logits == "" {
		logits, whose = filepath.Join(data, "w1a2_logits_torch.npy"), "PyTorch's"
	}
	got, err := readNpy(file, "<f4", classes)
	if err != nil {
		return "", err
	}
	want, err := readNpy(logits, "<f4", classes)
	if err != nil {
		return "", err
	}
	digits, err := readNpy(filepath.Join(data, "y_test.npy"), "<i8", 1)
	if err != nil {
		return "", err
	}
	rows := len(got) / classes
	if rows == 0 || len(got) > len(want) || rows > len(digits) {
		return "", fmt.Errorf("%s has %d rows, the test set has %d", file, rows, len(digits))
	}
	right, distance := 0, 0.0
	for r := range rows {
		best := 0
		for c := range classes {
			v := got[r*classes+c]
			if v > got[r*classes+best] {
				best = c
			}
			d := math.Abs(v - want[r*classes+c])
			if !(d <= distance) { // NaN too
				distance = d
			}
		}
		if float64(best) == digits[r] {
			right++
		}
	}
	line := fmt.Sprintf("%d of %d digits right; logits within %.1e of %s", right, rows, distance, whose)
	if float64(rows-right) > math.Ceil(allowed*float64(rows)) {
		return line, errors.New("too many digits are wrong")
	}
	if !(distance <= maxDistance) {
		return line, fmt.Errorf("logits may be off by %g at most", maxDistance)
	}
	return line, nil
}

var header = regexp.MustCompile(`'descr': '([^']+)', 'fortran_order': False, 'shape': \(([0-9, ]*)\)`)

// readNpy reads a C-ordered .npy file of type <f4 or <i8 whose rows have the given length.
func readNpy(path, dtype string, row int) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var start struct {
		Magic   [6]byte
		Version [2]byte
		Length  uint16
	}
	if err := binary.Read(f, binary.LittleEndian, &start); err != nil || string(start.Magic[:]) != "\x93NUMPY" || start.Version[0] != 1 {
		return nil, fmt.Errorf("%s is no .npy file of version 1", path)
	}
	text := make([]byte, start.Length)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := header.FindSubmatch(text)
	if m == nil || string(m[1]) != dtype {
		return nil, fmt.Errorf("%s holds %q, not a C-ordered array of %s", path, text, dtype)
	}
	n, last := 1, 1
	for _, s := range strings.FieldsFunc(string(m[2]), func(r rune) bool { return r == ',' || r == ' ' }) {
		if last, err = strconv.Atoi(s); err != nil {
			return nil, fmt.Errorf("%s: shape (%s): %w", path, m[2], err)
		}
		n *= last
	}
	if row > 1 && last != row {
		return nil, fmt.Errorf("%s has rows of %d values, not of %d", path, last, row)
	}
	out := make([]float64, n)
	if dtype == "<f4" {
		v := make([]float32, n)
		err = binary.Read(f, binary.LittleEndian, v)
		for i := range v {
			out[i] = float64(v[i])
		}
	} else {
		v := make([]int64, n)
		err = binary.Read(f, binary.LittleEndian, v)
		for i := range v {
			out[i] = float64(v[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
