# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
sources := $(wildcard src/*.cpp)

all: $(image)

$(image): $(sources) $(wildcard src/*.hpp generated/connector/*.hpp generated/connector/*.h generated/connector/services/*.h)
	$(CXX) -std=c++17 -Wall -Wextra -pedantic $(CXXFLAGS) -fPIC -shared -fvisibility=hidden -Igenerated $(sources) -o $@.new
	mv $@.new $@

status: $(image)
	$(HOST) status --simulate

test: $(image)
	sh generated/check $(HOST) $(image)

clean:
	rm -f $(image)
