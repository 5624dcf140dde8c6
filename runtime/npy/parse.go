package npy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	headerKey   = regexp.MustCompile(`^\s*(?:'(\w*)'|"(\w*)")\s*:\s*`)
	headerValue = regexp.MustCompile(`^(?:'([^']*)'|"([^"]*)"|\(([^()]*)\)|(True|False))\s*(?:,|$)`)
)

// parseHeader reads the Python dictionary of a header.
func parseHeader(text string) (header, error) {
	fail := func(format string, args ...any) (header, error) {
		return header{}, &Error{Msg: "header: " + fmt.Sprintf(format, args...),
			Help: "expected {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"}
	}
	rest := strings.TrimSpace(text)
	if len(rest) < 2 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return fail("it is no dictionary in braces, or text follows the dictionary")
	}
	rest = strings.TrimSpace(rest[1 : len(rest)-1])
	var h header
	missing := []string{"descr", "fortran_order", "shape"}
	for rest != "" {
		m := headerKey.FindStringSubmatch(rest)
		if m == nil {
			return fail("no key stands at %.20q", rest)
		}
		key := m[1] + m[2]
		at := slices.Index(missing, key)
		if at < 0 {
			return fail("unknown key %q, or it occurs twice", key)
		}
		missing = slices.Delete(missing, at, at+1)
		rest = rest[len(m[0]):]
		v := headerValue.FindStringSubmatch(rest)
		if v == nil {
			return fail("no value of key %q stands at %.20q; structured element types are not supported", key, rest)
		}
		rest = strings.TrimSpace(rest[len(v[0]):])
		var err error
		switch key {
		case "descr":
			h.dtype, err = dtypeOf(v[1] + v[2])
		case "fortran_order":
			if h.fortran = v[4] == "True"; v[4] == "" {
				return fail("fortran_order is True or False")
			}
		default:
			if v[0][0] != '(' {
				return fail("shape is no tuple")
			}
			h.shape, err = extents(v[3])
		}
		if err != nil {
			return header{}, err
		}
	}
	if len(missing) > 0 {
		return fail("key %q is missing", missing[0])
	}
	return h, nil
}

// dtypeOf returns ripc's name of an element type in NumPy's name.
func dtypeOf(descr string) (string, error) {
	var known []string
	for _, d := range descrs() {
		if descr == d[0] || len(descr) == 3 && d[0][0] == '|' && descr[0] == '<' && descr[1:] == d[0][1:] {
			return d[1], nil
		}
		known = append(known, d[0])
	}
	return "", &Error{Msg: fmt.Sprintf("element type %q is not supported", descr),
		Help: "use " + strings.Join(known, ", ") + " (astype before save)"}
}

// extents reads the inside of a tuple. Python 2 wrote an L behind long integers.
func extents(tuple string) ([]int, error) {
	shape := []int{}
	parts := strings.Split(strings.TrimSuffix(strings.TrimSpace(tuple), ","), ",")
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" && len(parts) == 1 {
			break
		}
		v, err := strconv.ParseUint(strings.TrimSuffix(part, "L"), 10, 31)
		if err != nil {
			return nil, &Error{Msg: fmt.Sprintf("%q is no extent", part),
				Help: fmt.Sprintf("extents are from 0 to %d", int64(maxBytes))}
		}
		if shape = append(shape, int(v)); len(shape) > maxRank {
			return nil, &Error{Msg: fmt.Sprintf("more than %d axes", maxRank)}
		}
	}
	return shape, nil
}
