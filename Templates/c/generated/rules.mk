# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test certify clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
sources := $(wildcard src/*.c)

all: $(image)

$(image): $(sources) $(wildcard src/*.h generated/connector/*.h generated/connector/services/*.h)
	$(CC) -std=c99 -Wall -Wextra -pedantic $(CFLAGS) -fPIC -shared -fvisibility=hidden -Igenerated $(sources) -o $@.new
	mv $@.new $@

status: $(image)
	"$(HOST)" status --simulate

test: $(image)
	sh generated/check "$(HOST)" $(image)

# The level of the rules that the plugin keeps, which connector-host shows as long as the image stays the same.
certify: $(image)
	"$(HOST)" test $(image) --answers answers.json --strict 10 --certify

clean:
	rm -f $(image)
