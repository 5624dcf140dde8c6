// Command ripc-worker measures and runs compiled kernels on the machine where it is started, for a
// ripc elsewhere that it speaks with over standard input and output. It is one static file, which
// ripc copies to boards by itself. With -hub it pulls jobs from a fleet's hub instead. Its
// arguments, if any, are a command that runs programs of this machine where the system cannot, such
// as an emulator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"ripc/autotune/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	f := runner.Fleet{Log: func(text string) { fmt.Fprintln(os.Stderr, "ripc-worker:", text) }}
	flag.StringVar(&f.URL, "hub", "", "pull jobs from the hub at `nats://HOST`")
	flag.StringVar(&f.Key, "key", "", "`file` of this worker's key")
	flag.Parse()
	r := runner.Native(runner.Options{Through: flag.Args()})
	var err error
	if f.URL != "" {
		err = f.Work(ctx, runner.Announce(r), r.Measure)
	} else {
		err = runner.Serve(ctx, r, runner.Announce(r), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ripc-worker:", err)
		os.Exit(1)
	}
}
