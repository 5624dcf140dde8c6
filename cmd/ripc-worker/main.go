// Command ripc-worker measures and runs compiled kernels on the machine where it is started, for a ripc elsewhere that it speaks
// with over standard input and output. It is one static file, which ripc copies to boards by itself. Its arguments, if any, are a
// command that runs programs of this machine where the system cannot, such as an emulator.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"ripc/autotune/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	r := runner.Native(runner.Options{Through: os.Args[1:]})
	if err := runner.Serve(ctx, r, runner.Announce(r), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ripc-worker:", err)
		os.Exit(1)
	}
}
