# Go and its modules are all that building takes. Tests also take a PostgreSQL
# server, and the race detector a C compiler.

GO        ?= go
TESTFLAGS ?=
BENCH     ?= .

# Where git can't tell, the program says that it does not know its version.
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS   := -s -w $(if $(VERSION),-X main.version=$(VERSION))

# One static binary: nothing here links with C, so tests don't either.
export CGO_ENABLED = 0

# Code that only crash tests' builds have is vetted too.
TAGGED    := -tags failpoints
# Packages with tests that only such a build has.
TAGGED_TESTS = $$(grep -rl --include='*_test.go' '^//go:build failpoints' . | xargs -n 1 dirname | sort -u)

QUICKSTART := examples/quickstart

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.PHONY: build demo test race faults fuzz check check-format check-vet check-staticcheck check-tidy check-generate check-goldens bench bench-rows bench-validate bench-verify bench-copydb bench-follow bench-load update clean help

build: ## Build bin/penstock, one static binary
	@$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/penstock ./cmd/penstock

demo: build ## Plan and run the quickstart: 1,000,000 made-up rows into an SQLite file
	@rm -rf $(QUICKSTART)/quickstart.db* $(QUICKSTART)/.penstock
	bin/penstock plan $(QUICKSTART)/quickstart.hcl
	bin/penstock run $(QUICKSTART)/quickstart.hcl

test: ## Set up what the tests need (Go modules, PostgreSQL) and run all of them
	@.ci/postgres
	$(GO) test -timeout 20m $(TESTFLAGS) ./...
	$(GO) test -timeout 20m $(TESTFLAGS) $(TAGGED) $(TAGGED_TESTS)

race: export CGO_ENABLED = 1
# Crash tests start programs that are built without the detector; they have run in
# test. A million rows through SQLite, a hundred loads over a faulty line and every
# type's round trip take the detector minutes, and smaller tests go the same ways. It
# takes memory of its own, which a bound on memory does not hold.
race: ## Run all tests but the longest under the race detector (needs a C compiler)
	@cc=$$($(GO) env CC); command -v $$cc >/dev/null || \
		{ echo "the race detector needs $$cc: apt-get install -y gcc libc6-dev" >&2; exit 1; }
	@.ci/postgres
	$(GO) test -race -timeout 40m -skip '^TestCrash|^TestOneRowInAMillion|^TestEightWorkersTake|^TestGrantsOf|OverAFaultyLine|^TestRoundTripOfEveryType' $(TESTFLAGS) ./...

check: test check-format check-vet check-staticcheck check-tidy check-generate check-goldens race ## What CI runs: test, then each check below

check-format: ## All Go files are as gofmt writes them
	@bad=$$($$($(GO) env GOROOT)/bin/gofmt -l .); [ -z "$$bad" ] || { echo "not as gofmt writes it:" $$bad >&2; exit 1; }

check-vet: ## go vet finds nothing
	$(GO) vet ./...
	$(GO) vet $(TAGGED) ./...
	$(GO) vet -tags oracle ./connectors/oracle

check-staticcheck: ## staticcheck, at the version in go.mod, finds nothing
	$(GO) tool staticcheck ./...
	$(GO) tool staticcheck $(TAGGED) ./...

check-tidy: ## go mod tidy changes nothing
	.ci/unchanged $(GO) mod tidy

check-generate: ## go generate changes nothing
	.ci/unchanged $(GO) generate ./...

check-goldens: ## The golden plans in examples are what the compiler writes
	.ci/unchanged $(MAKE) update

bench-rows: ## Made-up rows through filter, expression and ranges: discarded, and into SQLite
	@$(GO) run ./bench/rows

LOADFLAGS ?=
bench-validate: ## validate and plan of specs with 2,000 and 20,000 tables
	@$(GO) run ./bench/validate

bench-verify: ## A million rows a side compared: equal, and with one row changed
	@$(GO) run ./bench/verify

COPYFLAGS ?=
bench-copydb: ## PostgreSQL to PostgreSQL beside psql pipes, pg_dump and pgcopydb (COPYFLAGS="-scale 0.1 -runs 1"); half an hour
	@.ci/postgres
	@$(GO) run ./bench/copydb $(COPYFLAGS)

FOLLOWFLAGS ?=
bench-follow: ## pgbench's changes out of PostgreSQL's log beside pg_recvlogical, and into another database (FOLLOWFLAGS="-changes 300000 -runs 1")
	@.ci/postgres
	@$(GO) run ./bench/follow $(FOLLOWFLAGS)

bench-load: ## Tables into PostgreSQL beside psql, pgloader, pgcopydb (LOADFLAGS="-only big_table -pgferry PROGRAM"); an hour
	@.ci/postgres
	@$(GO) run ./bench/load $(LOADFLAGS)

.PHONY: bench-oracle conformance-oracle
bench-oracle: ## Rows from the wire double of Oracle beside the driver alone, and into PostgreSQL (ORACLEFLAGS="-load=false")
	@.ci/postgres
	@$(GO) run ./bench/oracle $(ORACLEFLAGS)

conformance-oracle: ## The conformance suite on a real Oracle: ORACLE_HOST, ORACLE_PORT, ORACLE_SERVICE, ORACLE_USER, ORACLE_PASSWORD, ORACLE_TLS
	@[ -n "$(ORACLE_HOST)" ] || { echo "say where Oracle is: make conformance-oracle ORACLE_HOST=... ORACLE_SERVICE=... ORACLE_USER=..., and ORACLE_PASSWORD in the environment; docs/oracle.md says what the user needs" >&2; exit 2; }
	@ORACLE_HOST=$(ORACLE_HOST) ORACLE_PORT=$(ORACLE_PORT) ORACLE_SERVICE=$(ORACLE_SERVICE) ORACLE_USER=$(ORACLE_USER) ORACLE_TLS=$(ORACLE_TLS) $(GO) test -tags oracle -count=1 -run OnOracle -v ./connectors/oracle

CRASHROWS ?= 2000000
.PHONY: crash-source
crash-source: ## Kill -9 a copy of CRASHROWS rows ten times while they move at the source, and its control, which must lose rows
	@.ci/postgres
	PENSTOCK_CRASH_ROWS=$(CRASHROWS) $(GO) test -count 1 -timeout 60m -v -run 'TestCrashOfPostgresSource' ./cmd/penstock

faults: ## 200 loads into PostgreSQL and 100 from it over a faulty line, with printed seeds (the tests have 60 and 30)
	@.ci/postgres
	$(GO) test -count 1 -timeout 20m -v -run OverAFaultyLine ./connectors/postgres -faults 200 -sourcefaults 100

# A count or a time for each target. What one finds, it leaves in testdata/fuzz.
FUZZ ?= 2000000x
fuzz: ## Fuzz both loaders of specs and row expressions, FUZZ=2000000x executions each; half an hour or more
	.ci/fuzz $(FUZZ) lang FuzzHCL github.com/hashicorp/hcl
	.ci/fuzz $(FUZZ) lang FuzzYAML github.com/hashicorp/hcl go.yaml.in/yaml
	.ci/fuzz $(FUZZ) internal/rowexpr FuzzCompile github.com/expr-lang/expr

bench: ## Run the Go benchmarks; BENCH=regexp chooses
	@uptime
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Only packages with goldens know the flag -update.
update: ## Rewrite the golden files, to be read before they are committed
	@packages=$$(grep -rlE --include='*_test.go' 'flag\.Bool(Var)?\(.*"update"' . | xargs -r -n 1 dirname | sort -u); \
	[ -n "$$packages" ] || { echo "no package has tests with the flag -update" >&2; exit 1; }; \
	$(GO) test -run Golden $$packages -update

clean: ## Remove what building, the demo and profiling leave
	rm -rf bin *.prof examples/*/*.db examples/*/*.db-wal examples/*/*.db-shm examples/*/*.lock examples/*/.penstock examples/*/lake

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile
