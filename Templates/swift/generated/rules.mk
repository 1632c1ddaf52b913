# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
swift := env -u MAKEFLAGS swift

all: $(image)

$(image): Package.swift $(wildcard Sources/@NAME@/*)
	$(swift) build --scratch-path $(SCRATCH)
	cp $(SCRATCH)/debug/lib@NAME@.so $@.new
	mv $@.new $@

status: $(image)
	$(HOST) status --simulate

test: $(image)
	$(swift) test --scratch-path $(SCRATCH)
	sh generated/check $(HOST) $(image)

clean:
	rm -rf $(image) $(SCRATCH)
