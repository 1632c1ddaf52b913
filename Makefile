# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
#   make status   build everything, and open the eight gates of connectors.json against the simulators
#   make test     build and run every test
#   make help     the rest

# The tests use the debug build, too. A release build, which `make install` and `make deb` make, optimizes every dependency as a whole,
# and takes twice as long.
CONFIGURATION ?= $(if $(filter install deb,$(MAKECMDGOALS)),release,debug)
BUILD := .build/$(CONFIGURATION)
SWIFT_BUILD := scripts/build $(BUILD) --configuration $(CONFIGURATION) $(if $(filter release,$(CONFIGURATION)),$(shell scripts/release-flags))
# The program under a short path, with the adapters beside it, as in an installation.
PROGRAM := .build/bin/connector-host
# Runs the tests' program itself: the package manager holds back its output, and so hides the last test if one hangs.
ifeq ($(shell uname),Darwin)
TESTS := scripts/run-tests scripts/swift test --skip-build --no-parallel
else
TESTS := scripts/run-tests .build/debug/connector-hostPackageTests.xctest --testing-library swift-testing --no-parallel
endif
SOURCES := $(wildcard Package.swift Sources Plugins Tests Examples Snippets Benchmarks)

.PHONY: help status plugins build packages test-packages fixtures test isolated browser screenshots fuzz torture sanitize acceptance api examples bench
.PHONY: install deb check-install installed schema docs recordings layout embed paths format lint clean

help:
	@echo 'make status    build, install the plugins, and run: connector-host status --simulate'
	@echo 'make plugins   build the adapters, and put their images into Plugins/'
	@echo 'make test      build and run every test, and the examples'
	@echo 'make isolated  run the tests that do not depend on where plugins run, with every plugin in a runner'
	@echo 'make browser   test the page of the console in Chromium, also for accessibility; see Tests/Browser'
	@echo 'make screenshots  take the pictures of the console in README and docs'
	@echo 'make fuzz      damage images, files and answers with new random numbers, until a test fails'
	@echo 'make torture   kill hosts a hundred times while they store and deliver, and count what arrives; fill an outbox; end runners a thousand times; work in the sandbox'
	@echo 'make sanitize  run the tests under AddressSanitizer and under ThreadSanitizer; see Tests/Sanitizers'
	@echo 'make acceptance  open the adapters on servers from PyPI and Debian, and use them; see Tests/Acceptance'
	@echo 'make api       make requests of every kind to the API of a host, from its description'
	@echo 'make examples  build the applications in Examples/ as packages of their own, and run them'
	@echo 'make install   build a release, and install everything below PREFIX (/usr/local)'
	@echo 'make deb       make a Debian package of it; Containerfile makes a container of that'
	@echo 'make check-install  install to a folder, move it, and run the program from there; the package, too'
	@echo 'make bench     measure, against C programs that do the same'
	@echo 'make paths     count what a call passes through, and compare it with docs/paths.md'
	@echo 'make schema    write connectors.schema.json, with the fields of the plugins, manifest.schema.json and answers.schema.json'
	@echo 'make docs      write docs/reference, and what manifests say in docs/adapters'
	@echo 'make recordings  record the adapters of docs/adapters with the simulators'
	@echo 'make layout    write the assertions of the layout of the ABI for Rust and Swift'
	@echo 'make embed     write, as Swift, what connector-host new puts into projects'
	@echo 'make format    format every Swift file'
	@echo 'make lint      check the format'
	@echo 'make clean     remove everything that was built'

packages:
	@scripts/install-system-packages

# Everything but the tests: the products on their own would leave out the plugins, which nothing links.
build: packages
	@$(SWIFT_BUILD)

plugins: build
	@scripts/install-plugins $(BUILD)
	@mkdir -p $(dir $(PROGRAM))
	@for name in connector-host connector-runner; do \
	    ln -f $(BUILD)/$$name $(dir $(PROGRAM))$$name || cp -f $(BUILD)/$$name $(dir $(PROGRAM))$$name; \
	done
	@for manifest in $(wildcard Plugins/*/*.connector.json); do \
	    folder=$${manifest%/*}; ln -sfn "$(CURDIR)/$$folder" "$(dir $(PROGRAM))$${folder##*/}"; \
	done

status: plugins
	@$(PROGRAM) status --simulate

schema: plugins
	@$(PROGRAM) schema > connectors.schema.json.new && mv connectors.schema.json.new connectors.schema.json
	@for format in manifest answers; do \
	    $(PROGRAM) schema $$format > $$format.schema.json.new && mv $$format.schema.json.new $$format.schema.json || exit 1; \
	done

# The pages of the reference. The tests compare them with the program.
docs: plugins
	@$(PROGRAM) reference --into docs/reference
	@$(PROGRAM) reference --into docs/adapters $(foreach page,$(wildcard docs/adapters/*.md),$(foreach name,$(basename $(notdir $(page))),--plugin Plugins/$(name)/$(name).connector.json))

# Records what adapters and their vendors' simulators say. The tests make the recordings again, and compare.
recordings: plugins
	@scripts/record-adapters $(PROGRAM) Plugins -

# The assertions of the ABI's layout in the languages that cannot include its table. The tests compare them with it.
layout:
	@scripts/layout rust > Bindings/rust/src/sys/layout.rs
	@scripts/layout swift > Tests/ConnectorHostTests/ABI/LayoutTests.swift

# What `connector-host new` puts into projects. The tests compare it with its sources.
EMBEDDED := Sources/ConnectorScaffold/Embedded/Embedded
embed:
	@scripts/embed templates > $(EMBEDDED)+Templates.swift
	@scripts/embed headers > $(EMBEDDED)+Headers.swift
	@scripts/embed crate > $(EMBEDDED)+Crate.swift

fixtures: packages
	@$(MAKE) --no-print-directory -s -C Tests/Fixtures

# The applications in Examples/ depend on this package by path, as any application may. None may resolve what only the command needs.
examples: plugins
	@$(MAKE) --no-print-directory -s -C Examples/calculator libcalculator.so
	@$(MAKE) --no-print-directory -s -C Examples/adapter/c
	@$(MAKE) --no-print-directory -s -C Examples/adapter/cpp
	@if command -v cargo > /dev/null; then \
	    $(MAKE) --no-print-directory -s -C Examples/adapter/rust TARGET="$(CURDIR)/.build-rust"; fi
	@for package in adapter calculator search Screens site-watch wallets/connectors wallets/wallet wallets/till service Application; do \
	    scripts/test-example $$package || exit 1; \
	done
	@for language in rust swift; do \
	    if [ $$language = rust ] && ! command -v cargo > /dev/null; then continue; fi; \
	    scripts/run-page docs/first-plugin.md $$language $(PROGRAM) || exit 1; \
	    scripts/check-project $$language files/1 $(PROGRAM) || exit 1; \
	done
	@! grep -e argument-parser Examples/*/Package.resolved
	@scripts/run-example $(or $(SCRATCH),.build-example)/debug

# One test needs gdb, those of signatures minisign, those of the outbox in NATS its server and client, those that cut servers off
# iproute2, those of metrics prometheus, and those of the console tmux and Chromium. Tests whose program is missing are skipped.
test-packages: packages
	@scripts/install-system-packages gdb iproute2 minisign nats-server libnats3.4 prometheus tmux

# Tests spend most of their time waiting for processes, servers and clocks, so these run in parallel, in parts that take about as long,
# and beside the compiler of the examples. With SCRATCH=.build the examples reuse the dependencies compiled there, after everything that
# needs the rest of it.
test: test-packages fixtures plugins
	scripts/swift build --build-tests
	@scripts/run-together \
	    "$(TESTS) --filter '^ConnectorHostCommandsTests\.(?!($(LONG_SUITES))\b)'" \
	    "$(TESTS) --filter '^ConnectorHostTests\.' && $(ISOLATED_TESTS)" \
	    "$(TESTS) --skip '^ConnectorHost(Commands)?Tests\.' && Tests/Browser/run short" \
	    "$(TESTS) --filter '^ConnectorHostCommandsTests\.($(LONG_SUITES))\b' && $(MAKE) --no-print-directory -s installed" \
	    $(if $(SCRATCH),,'$(MAKE) --no-print-directory examples')
	@$(if $(SCRATCH),$(MAKE) --no-print-directory examples)

# Those of the commands' suites that take longest, which therefore are a part of their own.
LONG_SUITES := AdapterPageTests|ConsoleCommandTests|NATSTortureTests|RecordCommandTests

# Calls, clients, composites and deliveries do not know where a plugin runs: these suites run once more, with every plugin in a runner.
# The others look into the plugin's process, move its time while it works, or are about runners anyway.
ISOLATED_SUITES := ApplicationOutboxTests|AuthorMistakeTests|CallErrorTests|CallOutcomeTests|CallTracingTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|CallValueTests|CanaryTests|CapabilityVersionTests|CompletionTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|CompositeCallTests|CompositeStateTests|ConnectorHostTests|CrashNoteReportTests|CurrentTreeTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|DatabaseClientTests|DeliveryTests|DescribedCallTests|EvidenceTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|FilesClientTests|FilesConformanceTests|GateBreakerTests|GateClosingTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|GateHealingTests|GateOpeningTests|GateProbingTests|GateSecretRefusalTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|GateSecretTests|GateSecretTortureTests|GateServicesTests|GenerationTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|HostClientTests|HostMetricsTests|MetricsPublisherTests|MisbehavingPluginTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|MixedDeliveryTests|OperationFunctionTests|OutboxBoundTests|OutboxHostTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|PluginErrorTests|PollClientTests|PrometheusTextTests|ReadinessTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|ReloadEndingTests|ReloadInstanceTests|ReloadOutboxTests|ReloadPropertyTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|ReloadRollbackTests|RemoteSettingsTests|ReportTests|SensorClientTests|SettingsClientTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|SharedGateTests|SwapTests|TypedBreakerTests|UsedGateTests|VersionedDeliveryTests
ISOLATED_SUITES := $(ISOLATED_SUITES)|WatchingHostTests
ISOLATED_TESTS := CONNECTOR_TESTING_ISOLATION=process $(TESTS) --filter '^ConnectorHostTests\.($(ISOLATED_SUITES))/'
isolated: plugins fixtures
	scripts/swift build --build-tests
	@$(ISOLATED_TESTS)

# The console's page in Chromium; `make test` runs the short form.
browser: plugins
	@Tests/Browser/run

screenshots: plugins
	@Tests/Browser/run pictures

# The mutators of `make test`, which runs them for a few rounds with a fixed seed. Each seed is printed: to repeat a failure, run
# make fuzz with CONNECTOR_FUZZ_SEED and CONNECTOR_FUZZ_ROUNDS as printed.
CONNECTOR_FUZZ_ROUNDS ?= 500
CONNECTOR_FUZZ_SEED ?= $(shell date +%s)
fuzz: packages fixtures
	scripts/swift build --build-tests
	@seed=$(CONNECTOR_FUZZ_SEED); while :; do \
	    echo "CONNECTOR_FUZZ_SEED=$$seed CONNECTOR_FUZZ_ROUNDS=$(CONNECTOR_FUZZ_ROUNDS)"; \
	    CONNECTOR_FUZZ_SEED=$$seed CONNECTOR_FUZZ_ROUNDS=$(CONNECTOR_FUZZ_ROUNDS) \
	        $(TESTS) --filter MutationTests || exit 1; \
	    seed=$$((seed + 1)); \
	done

# `make test` runs the short form. Hosts are killed at random moments while a vendor misbehaves: one alone, and three with three NATS
# servers, which are killed and cut off, too. One outbox holds a million events. Runners crash and are killed, and so are their hosts.
# A Swift process works in the sandbox for CONNECTOR_SANDBOX_SECONDS in each of its two stages, with namespaces and without.
# The seed is printed: to repeat a run, set CONNECTOR_TORTURE_SEED.
CONNECTOR_TORTURE_KILLS ?= 100
CONNECTOR_TORTURE_EVENTS ?= 1000000
CONNECTOR_TORTURE_CRASHES ?= 1000
CONNECTOR_TORTURE_SEED ?= $(shell date +%s)
CONNECTOR_SANDBOX_SECONDS ?= 1500
torture: packages fixtures
	@scripts/install-system-packages iproute2 nats-server libnats3.4
	scripts/swift build --build-tests
	@CONNECTOR_TORTURE_SEED=$(CONNECTOR_TORTURE_SEED) CONNECTOR_TORTURE_KILLS=$(CONNECTOR_TORTURE_KILLS) \
	    CONNECTOR_TORTURE_EVENTS=$(CONNECTOR_TORTURE_EVENTS) CONNECTOR_TORTURE_CRASHES=$(CONNECTOR_TORTURE_CRASHES) \
	    CONNECTOR_TORTURE_ROTATIONS=10000 CONNECTOR_TORTURE_SWAPS=100 CONNECTOR_TESTS_SILENCE=3600 \
	    CONNECTOR_SANDBOX_SECONDS=$(CONNECTOR_SANDBOX_SECONDS) \
	    $(TESTS) --filter 'TortureTests|SandboxLoadTests'

# The dependencies are compiled once for both sanitizers, our own code once for each. The second build runs beside the first tests, which
# mostly wait.
sanitize: packages fixtures
	@Tests/Sanitizers/build address
	@scripts/run-together 'Tests/Sanitizers/run --skip-build address' 'Tests/Sanitizers/build thread'
	@Tests/Sanitizers/run --skip-build thread

# Runs with the adapters in the host's process, and again in runners. The suite of files/1 puts with one host for several calls, and is
# built with the tests.
acceptance: plugins
	scripts/swift build --build-tests
	@CONNECTOR_ISOLATION=none Tests/Acceptance/run
	@CONNECTOR_ISOLATION=process Tests/Acceptance/run

api: plugins fixtures
	@Tests/Acceptance/run api

PREFIX ?= /usr/local
install: plugins
	@scripts/install $(BUILD) "$(PREFIX)" "$(DESTDIR)"

deb: plugins
	@scripts/make-deb $(BUILD) .build/packages

# Installs a prefix and the package into temporary folders, and runs the program from each; the debug build is enough for that.
check-install: plugins
	@$(MAKE) --no-print-directory -s installed
installed:
	@rm -rf .build/installed .build/unpacked
	@umask 077 && scripts/install $(BUILD) "$(CURDIR)/.build/installed"
	@scripts/check-install .build/installed
	@if command -v dpkg-deb > /dev/null; then \
	    mkdir .build/unpacked && touch ".build/unpacked/connector-host_0_$$(dpkg --print-architecture).deb" && \
	    (umask 077 && scripts/make-deb $(BUILD) .build/unpacked > /dev/null) && \
	    dpkg-deb -x .build/unpacked/*.deb .build/unpacked && scripts/check-install .build/unpacked/usr; fi
	@rm -rf .build/installed .build/unpacked

bench: packages
	@$(MAKE) --no-print-directory -C Benchmarks

paths: packages
	@scripts/count-path

format:
	@swift format format --in-place --parallel --recursive $(SOURCES)

lint:
	@swift format lint --strict --parallel --recursive $(SOURCES)

# Beside the manifests, only the images that the build has put there are removed.
clean:
	@for stamp in .build/*/installed-plugins/* .build-*/*/installed-plugins/*; do \
	    name=$${stamp##*/}; image=Plugins/$$name/lib$$name.so; \
	    if [ -f "$$image" ] && [ "$$(cksum < "$$image")" = "$$(cat "$$stamp" 2> /dev/null)" ]; then rm -f "$$image"; fi; done
	rm -rf .build .build-*
	@$(MAKE) --no-print-directory -s -C Tests/Fixtures clean
