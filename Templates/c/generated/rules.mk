# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
sources := $(wildcard src/*.c)

all: $(image)

$(image): $(sources) $(wildcard src/*.h generated/connector/*.h generated/connector/services/*.h)
	$(CC) -std=c99 -Wall -Wextra -pedantic $(CFLAGS) -fPIC -shared -fvisibility=hidden -Igenerated $(sources) -o $@.new
	mv $@.new $@

status: $(image)
	$(HOST) status --simulate

test: $(image)
	sh generated/check $(HOST) $(image)

clean:
	rm -f $(image)
