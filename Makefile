# make demo   what ripc does, from a fresh clone
# make test   what every change must pass

GO := $(shell command -v go || echo /usr/local/go/bin/go)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHFLAGS ?=
BIN ?= bin
BENCH ?= .
BENCHTIME ?= 1s
CASES ?= 10000
CLAIMS ?= 1000000
FROM ?= 0
FUZZTIME ?= 10m
RELEASE ?= build/release
FUZZ ?= .
ONLY ?=
MOMENTS ?= 40
INFERENCES ?= 1000000
RACE ?= ./runtime/... ./engine/... ./compile ./codegen/... ./autotune/... ./measure ./verify ./internal/files
# package targets/boards, by go test ./e2e -run '^TestSections$' -update
# boards: begin
BOARDS := cortex-m4 cortex-m33
# boards: end
# Go's compiler, its vet and the tests collect garbage from half a GiB on; programs have no tables for debuggers
test thorough: export GOGC := off
test thorough: export GOMEMLIMIT := 512MiB
test thorough: export GOFLAGS := $(GOFLAGS) -ldflags=-w
# should compiled code crash, the trace names the cases that it was made of
TRACE := GODEBUG=tracebacklabels=1

.PHONY: help setup build workers release install demo numbers test thorough mcu fpga c opencl apps twin module-path packages cross fmt vet check faults race property claims fuzz bench bench-peers bench-tuner ablation networks table stale gobench clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

setup: ## install the LLVM tools, qemu-user, XGBoost, a C compiler, sshd, OpenCL for CPUs and Node if they are missing
	@scripts/setup.sh
	@$(GO) version >/dev/null || { echo "Go is missing: https://go.dev/dl" >&2; exit 1; }

build: ## build bin/ripc; BIN=bin
	$(GO) build -o $(BIN)/ripc ./cmd/ripc

workers: ## build bin/ripc-worker-ARCH, which ripc puts on boards by ssh
	$(GO) run ./scripts/release -workers $(BIN)

release: ## what is shipped for linux on amd64, arm64, armv7, riscv64 and loong64: archives, .deb, wheels, a Dockerfile, checksums and lists of parts in RELEASE=build/release
	$(GO) run ./scripts/release -out $(RELEASE)

demo: setup build ## compile, check and run a network
	scripts/demo.sh

numbers: setup build ## measure the numbers in the documents, on a quiet machine: lab/data and the pages
	$(GO) run ./lab numbers

PREFIX ?= /usr/local
install: build ## ripc, manual pages, completions, CMake module and pkg-config file below PREFIX=/usr/local (and DESTDIR)
	@scripts/install.sh $(BIN)/ripc $(DESTDIR)$(PREFIX)

fmt:
	@files=$$($(GO)fmt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "run gofmt -w on:"; echo "$$files"; exit 1; fi

vet:
	$(GO) vet ./...

test: setup fmt vet ## format, vet, and all tests with the real tools
	@scripts/setup-browser.sh
	@scripts/setup-c.sh --check || echo "so the tests of code in C leave these out; make c installs them and runs all"
	@scripts/setup-apps.sh --check || echo "so the tests of programs in C and Python leave these out; make apps installs them and runs all"
	@echo "the training twin's own tests need PyTorch: make twin installs it and runs them; what it trained and exported is compared here"
	RIPC_REQUIRE_TOOLS=1 $(TRACE) $(GO) test -vet=off -p 3 -timeout 30m ./e2e ./cmd/ripc ./... # the longest first; make vet has vetted; some tests wait, so three packages share two cores

thorough: setup ## all cases of the tests of which make test takes a part: every model on every target and compiler
	RIPC_THOROUGH=1 RIPC_REQUIRE_TOOLS=1 $(TRACE) $(GO) test -timeout 60m ./...

mcu: build ## networks on simulated microcontrollers: set-up of its own, all tests, flash and RAM of digits
	@scripts/setup-mcu.sh
	RIPC_REQUIRE_MCU=1 $(GO) test -count 1 -timeout 10m ./engine/bareboard
	RIPC_REQUIRE_MCU=1 $(GO) test -count 1 -timeout 10m -run '^TestLearn' ./lab/fit
	RIPC_REQUIRE_MCU=1 $(GO) test -count 1 -timeout 10m -run '^TestMicrocontrollers' ./engine ./e2e
	@for t in $(BOARDS); do bin/ripc verify examples/digits/digits.json --target $$t || exit 1; done

fpga: build ## accelerators for FPGAs: set-up of its own, all networks of testdata simulated, one counted
	@scripts/setup-fpga.sh
	RIPC_REQUIRE_FPGA=1 $(GO) test -count 1 -timeout 60m ./core/... ./engine/verilator ./accelerator \
		./measure/yosys ./codegen/verilog
	bin/ripc verify testdata/qonnx/digits_w1a2.onnx --target pynq-z2 --cycles 18432
	bin/ripc verify testdata/fpga/cnv8.json --target pynq-z2 --core auto

# in its folder, go test shows what a test prints
c: ## the C back end with GCC, Clang and sanitizers: set-up of its own, all networks and imported cases
	@scripts/setup-c.sh
	RIPC_REQUIRE_C=1 $(GO) test -count 1 -timeout 30m ./codegen/c99
	cd e2e && RIPC_REQUIRE_C=1 $(GO) test -count 1 -timeout 60m -run '^TestAllInC$$|^TestSanitizedNetwork$$'

opencl: ## kernels on a CPU as a device, by pocl, rusticl and Oclgrind: set-up of its own, networks, random ones, schedules and races
	@scripts/setup.sh
	@scripts/setup-browser.sh
	@scripts/setup-opencl.sh
	RIPC_THOROUGH=1 RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 120m -run '^Test.*OnDevice$$' ./codegen/c99 ./e2e

apps: ## the programs in examples with a network in them, in C, Go and Python, here and on simulated boards: set-up of its own
	@scripts/setup-apps.sh
	cd e2e && RIPC_REQUIRE_APPS=1 RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 20m -run '^TestApps$$|^TestInstall$$|^TestStack$$|^TestCommands$$'

TWIN_PYTHON ?= $(CURDIR)/build/venv/bin/python
twin: export TWIN_PYTHON := $(TWIN_PYTHON)
twin: build ## the training twin: PyTorch in build/venv, some gigabytes (or TWIN_PYTHON), its tests, and the commands of docs/twin.md
	@scripts/setup-twin.sh
	cd twin && PYTHONDONTWRITEBYTECODE=1 RIPC=$(abspath $(BIN))/ripc $(TWIN_PYTHON) -m pytest -q
	cd e2e && RIPC_REQUIRE_TWIN=1 RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 20m -run '^TestTwin'

module-path: ## give the module the path under which it is published: MODULE=github.com/OWNER/ripc
	$(GO) run ./scripts/modulepath $(MODULE)

cross: ## vet the command for macOS and Windows, which inspect and compile there
	GOOS=darwin GOARCH=arm64 $(GO) vet ./cmd/ripc
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/ripc

packages: setup ## what is shipped, built and installed as users do: go install, pip, dpkg; some minutes
	RIPC_REQUIRE_PACKAGES=1 RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 30m -run '^TestGoInstall$$|^TestPackages' ./scripts/... ./e2e

check: test ## make test, staticcheck, and is go.mod tidy
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy -diff

# in its folder, go test shows what a test prints, such as why this machine cannot have a fault
faults: setup ## faults at many moments: commands killed and ended, full disks, caches and tools that cannot be used, and a million inferences; MOMENTS=40 INFERENCES=1000000
	cd cmd/ripc && RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 30m -v -run '^TestFaults' -moments $(MOMENTS)
	cd e2e && RIPC_REQUIRE_TOOLS=1 $(GO) test -count 1 -timeout 0 -v -run '^TestLoad$$' -inferences $(INFERENCES)

race: setup ## the race detector, at low priority, on what has goroutines: RACE="./runtime ./engine"
	RIPC_REQUIRE_TOOLS=1 nice -n 15 $(GO) test -race -count 1 -timeout 90m $(RACE)

property: setup ## random networks on all targets; CASES=10000 FROM=0; TARGETS=regexp chooses among them
	RIPC_REQUIRE_TOOLS=1 $(TRACE) $(GO) test ./e2e -run '^TestRandomNetworks$$' -v -timeout 0 -cases $(CASES) -from $(FROM) -targets '$(TARGETS)'

claims: ## what is proved of random Funcs, beside what the interpreter sees; CLAIMS=1000000 FROM=0
	nice -n 15 $(GO) test ./internal/judge -run '^TestClaims$$' -v -timeout 0 -args -claims $(CLAIMS) -from $(FROM)

fuzz: ## each fuzz target for FUZZTIME=10m; FUZZ=regexp chooses among PACKAGE.NAME
	@GO=$(GO) scripts/fuzz.sh '$(FUZZ)' $(FUZZTIME)

networks: setup ## compile the networks of examples/networks at full size and compare them with their definitions; ONLY=regexp
	nice -n 15 $(GO) run ./lab networks --verify --only '$(ONLY)'

table: setup ## measure the networks beside their float twins, on a quiet machine: lab/data and docs/networks.md
	$(GO) run ./lab networks

stale: ## list the figures of the documents that are older than the code that they measure
	$(GO) run ./lab stale

bench: setup ## measure ripc's layers and networks beside the machine's limits, in minutes: build/bench; BENCHFLAGS="--only convB"
	$(GO) run ./lab bench $(BENCHFLAGS)

bench-peers: setup ## the same beside onnxruntime, LiteRT, Larq and TVM, on a quiet machine: docs/bench-peers.md
	$(GO) run ./lab peers $(BENCHFLAGS)

ablation: setup ## what each optimization is worth, at low priority; it can be interrupted: docs/ablation.md; ABLATION="--targets rpi3 --sample 8 --anew"
	nice -n 15 $(GO) run ./lab ablation --missing $(ABLATION)

bench-tuner: setup ## compare the searches of the tuner, at low priority; it can be interrupted: build/tuner, docs/bench-tuner.md
	nice -n 19 $(GO) run ./lab tuner $(BENCHFLAGS)

.PHONY: ledger
ledger: setup ## estimate the cycles of networks and layers on Arm boards, at low priority; it can be interrupted: docs/ledger.md; LEDGER="--check --targets rpi3"
	nice -n 15 $(GO) run ./lab ledger $(LEDGER)

.PHONY: shipped-records
shipped-records: setup ## tune the usual networks and make the records that come with ripc, at low priority; it can be interrupted: build/shipped
	nice -n 15 $(GO) run ./lab records $(BENCHFLAGS)

gobench: setup ## Go benchmarks; BENCH=regexp BENCHTIME=1s
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) ./...

clean: ## remove what the build made (not the object cache)
	rm -rf bin
