# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test certify clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
sources := $(shell find src -name '*.c')
objects := $(sources:%.c=.build/%.o)
# What no library defines is an error here already, as it is with every linker for macOS.
ifneq ($(shell uname),Darwin)
complete := -Wl,-z,defs
endif

all: $(image)

# A folder changes when a source is removed from it.
$(image): $(objects) $(shell find src -type d) $(MAKEFILE_LIST)
	$(CC) $(CFLAGS) -shared $(complete) $(objects) $(LDFLAGS) $(LDLIBS) -o $@.new
	mv $@.new $@

.build/%.o: %.c $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(CC) -std=c99 -Wall -Wextra -pedantic $(CFLAGS) -fPIC -fvisibility=hidden -Igenerated -MMD -MP -c $< -o $@

status: $(image)
	"$(HOST)" status --simulate

test: $(image)
	sh generated/check "$(HOST)" $(image)

# The level of the rules that the plugin keeps, which connector-host shows as long as the image stays the same.
certify: $(image)
	"$(HOST)" test $(image) --answers answers.json --strict 10 --certify

clean:
	rm -rf $(image) .build

-include $(objects:.o=.d)
