package runner_test

import (
	"errors"
	"reflect"
	"testing"

	"ripc/autotune/records"
	"ripc/autotune/runner"
)

func TestPack(t *testing.T) {
	j := runner.NewJob([]byte("library"), [][]byte{[]byte("in"), {}, []byte("in")}, runner.Settings{Threads: 2, Best: 17.5})
	j.Program = []byte("program")
	h, blobs := j.Pack()
	if len(blobs) != 4 || len(h.Hashes()) != 4 {
		t.Fatalf("%d blobs, hashes %v", len(blobs), h.Hashes())
	}
	text, err := runner.EncodeHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	read, err := runner.DecodeHeader(text)
	if err != nil {
		t.Fatal(err)
	}
	get := func(hash string) ([]byte, error) { return blobs[hash], nil }
	back, err := read.Job(get)
	if err != nil || !reflect.DeepEqual(back, j) {
		t.Errorf("%+v became %+v, %v", j, back, err)
	}
	// A job whose content was changed on the way is none.
	blobs[h.Library] = []byte("another")
	var bad *runner.MessageError
	if _, err := read.Job(get); !errors.As(err, &bad) {
		t.Errorf("another library: %v", err)
	}
	read.Settings.Best = 18
	if _, err := read.Job(get); !errors.As(err, &bad) {
		t.Errorf("other settings: %v", err)
	}
	// The ID is of what decides on the result, and of nothing else.
	same := runner.NewJob(j.Library, j.Inputs, j.Settings)
	other := runner.NewJob(j.Library, j.Inputs[:2], j.Settings)
	if same.ID != j.ID || other.ID == j.ID {
		t.Errorf("IDs %s, %s, %s", j.ID, same.ID, other.ID)
	}
}

func TestDecodeRefusals(t *testing.T) {
	h, _ := runner.NewJob([]byte("l"), nil, runner.Settings{}).Pack()
	good, err := runner.EncodeHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"nothing": "", "no JSON": "{", "two": string(good) + "{}", "a new field": `{"x":1,` + string(good[1:]), "no ID": `{"library":"00"}`,
		"negative": `{"settings":{"threads":-1}}`, "empty": `{}`, "large": `{"id":"` + string(make([]byte, runner.MaxHeader)) + `"}`,
	} {
		var bad *runner.MessageError
		if _, err := runner.DecodeHeader([]byte(text)); !errors.As(err, &bad) {
			t.Errorf("job, %s: %v", what, err)
		}
		if _, err := runner.DecodeResult([]byte(text)); !errors.As(err, &bad) {
			t.Errorf("result, %s: %v", what, err)
		}
	}
	r := runner.Result{ID: h.ID, Outputs: []string{h.Library}, Measurement: records.Measurement{Cost: 1, Unit: records.Nanoseconds, Samples: []float64{1}}}
	for what, change := range map[string]func(*runner.Result){
		"":             func(*runner.Result) {},
		"no cost":      func(r *runner.Result) { r.Measurement.Cost = 0 },
		"no outputs":   func(r *runner.Result) { r.Outputs = nil },
		"a bad output": func(r *runner.Result) { r.Outputs = []string{"00"} },
		"both":         func(r *runner.Result) { r.Measurement.Failure = &records.Failure{Kind: records.Crashed} },
	} {
		r := r
		change(&r)
		text, err := runner.EncodeResult(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := runner.DecodeResult(text)
		if (err != nil) != (what != "") || err == nil && !reflect.DeepEqual(got, r) {
			t.Errorf("%q: %+v, %v", what, got, err)
		}
	}
}
