package main

import (
	"context"

	"github.com/rogpeppe/go-internal/testscript"

	"ripc/autotune/hub"
)

// startHub is "hub FOLDER": it serves on a free port until the script ends, and puts the address into HUB.
func startHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub FOLDER")
	}
	h, err := hub.Start(context.Background(), hub.Options{Listen: "127.0.0.1:0", Dir: ts.MkAbs(args[0])})
	ts.Check(err)
	ts.Defer(func() { h.Close() })
	ts.Setenv("HUB", h.URL())
}
