# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
#   make status   build everything, and open the eight gates of connectors.json against the simulators
#   make test     build and run every test
#   make help     the rest

# Debug: six to seven minutes of processor time from nothing, and tests use the same. Release optimises every dependency as a
# whole, which takes longer; `make status CONFIGURATION=release` builds what is to be installed.
CONFIGURATION ?= debug
SWIFT_BUILD := scripts/swift build --configuration $(CONFIGURATION) $(if $(filter release,$(CONFIGURATION)),$(shell scripts/release-flags))
BUILD := .build/$(CONFIGURATION)
# The program under a short path, away from the images of the build directory.
PROGRAM := .build/bin/connector-host
SOURCES := $(wildcard Package.swift Sources Plugins Tests Examples Snippets Benchmarks)

.PHONY: help status plugins build packages fixtures test browser screenshots fuzz torture sanitize acceptance api examples bench
.PHONY: schema format lint clean

help:
	@echo 'make status    build, install the plugins, and run: connector-host status --simulate'
	@echo 'make plugins   build the adapters, and put their images into Plugins/'
	@echo 'make test      build and run every test, and the examples'
	@echo 'make browser   test the page of the console in Chromium, also for accessibility; see Tests/Browser'
	@echo 'make screenshots  take the pictures of the console in README'
	@echo 'make fuzz      damage images, files and answers with new random numbers, until a test fails'
	@echo 'make torture   kill hosts a hundred times while they store and deliver, and count what arrives; fill an outbox'
	@echo 'make sanitize  run the tests under AddressSanitizer and under ThreadSanitizer; see Tests/Sanitizers'
	@echo 'make acceptance  open the adapters on servers from PyPI and Debian, and use them; see Tests/Acceptance'
	@echo 'make api       make requests of every kind to the API of a host, from its description'
	@echo 'make examples  build the applications in Examples/ as packages of their own, and run them'
	@echo 'make bench     measure, beside C programs that do the same'
	@echo 'make schema    write connectors.schema.json from the plugins there are'
	@echo 'make format    format every Swift file'
	@echo 'make lint      check the format'
	@echo 'make clean     remove everything that was built'

packages:
	@scripts/install-system-packages

# Everything but the tests: the products on their own would leave out the plugins, which nothing links.
build: packages
	$(SWIFT_BUILD)

plugins: build
	@scripts/install-plugins $(BUILD)
	@mkdir -p $(dir $(PROGRAM)) && { ln -f $(BUILD)/connector-host $(PROGRAM) || cp -f $(BUILD)/connector-host $(PROGRAM); }

status: plugins
	@$(PROGRAM) status --simulate

schema: plugins
	@$(PROGRAM) schema > connectors.schema.json.new && mv connectors.schema.json.new connectors.schema.json

fixtures: packages
	@$(MAKE) --no-print-directory -s -C Tests/Fixtures

# The applications in Examples/ depend on this package by path, as anybody's do. They share a scratch directory of their own, so
# the dependencies are compiled once more: some minutes, once. What is to be built is planned anew for each of the two. Neither
# must resolve what the command alone needs.
EXAMPLE := scripts/swift build --disable-build-manifest-caching --scratch-path .build-example --package-path Examples
examples: plugins
	@$(MAKE) --no-print-directory -s -C Examples/calculator
	$(EXAMPLE)/calculator
	$(EXAMPLE)/Application --build-tests
	@! grep -e argument-parser -e hummingbird Examples/*/Package.resolved
	@scripts/run-example .build-example/debug
	scripts/swift test --skip-build --disable-build-manifest-caching --scratch-path .build-example --package-path Examples/Application

# gdb is for one test alone, NATS for those of that outbox, iproute2 for those in which servers are cut off, prometheus for those of
# metrics, tmux and Chromium for those of the console; they are skipped without.
test: packages fixtures examples
	@scripts/install-system-packages gdb iproute2 nats-server libnats3.4 prometheus tmux
	scripts/swift build --build-tests
	@scripts/run-tests scripts/swift test --skip-build --no-parallel
	@Tests/Browser/run short

# The console's page, as somebody sees it who has Chromium; `make test` does the short form.
browser: plugins
	@Tests/Browser/run

screenshots: plugins
	@Tests/Browser/run pictures

# The mutators of `make test`, which there run with few rounds and a fixed seed. Each seed is printed: to repeat a failure, run
# make fuzz with CONNECTOR_FUZZ_SEED and CONNECTOR_FUZZ_ROUNDS as printed.
CONNECTOR_FUZZ_ROUNDS ?= 500
CONNECTOR_FUZZ_SEED ?= $(shell date +%s)
fuzz: packages fixtures
	scripts/swift build --build-tests
	@seed=$(CONNECTOR_FUZZ_SEED); while :; do \
	    echo "CONNECTOR_FUZZ_SEED=$$seed CONNECTOR_FUZZ_ROUNDS=$(CONNECTOR_FUZZ_ROUNDS)"; \
	    CONNECTOR_FUZZ_SEED=$$seed CONNECTOR_FUZZ_ROUNDS=$(CONNECTOR_FUZZ_ROUNDS) \
	        scripts/run-tests scripts/swift test --skip-build --no-parallel --filter MutationTests || exit 1; \
	    seed=$$((seed + 1)); \
	done

# What `make test` does in a short form: hosts that are killed at random moments before a vendor that misbehaves, alone and three with
# three servers of NATS, which are killed and cut off, too; and an outbox with a million events. The seed is printed: to repeat a run, set CONNECTOR_TORTURE_SEED.
CONNECTOR_TORTURE_KILLS ?= 100
CONNECTOR_TORTURE_EVENTS ?= 1000000
CONNECTOR_TORTURE_SEED ?= $(shell date +%s)
torture: packages fixtures
	@scripts/install-system-packages iproute2 nats-server libnats3.4
	scripts/swift build --build-tests
	@CONNECTOR_TORTURE_SEED=$(CONNECTOR_TORTURE_SEED) CONNECTOR_TORTURE_KILLS=$(CONNECTOR_TORTURE_KILLS) \
	    CONNECTOR_TORTURE_EVENTS=$(CONNECTOR_TORTURE_EVENTS) \
	    scripts/run-tests scripts/swift test --skip-build --no-parallel --filter TortureTests

# Each builds everything once more, in a scratch directory of its own: some eight minutes on two processors, once.
sanitize: packages fixtures
	@Tests/Sanitizers/run address
	@Tests/Sanitizers/run thread

acceptance: plugins
	@Tests/Acceptance/run

api: plugins fixtures
	@Tests/Acceptance/run api

bench: packages
	@$(MAKE) --no-print-directory -C Benchmarks

format:
	@swift format format --in-place --parallel --recursive $(SOURCES)

lint:
	@swift format lint --strict --parallel --recursive $(SOURCES)

clean:
	rm -rf .build .build-* Plugins/*/lib*.so
	@$(MAKE) --no-print-directory -s -C Tests/Fixtures clean
