# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test certify clean always
.DEFAULT_GOAL := all

image := lib@NAME@.so
swift := env -u MAKEFLAGS swift

all: $(image)

# SwiftPM knows what has changed. The image stays as it is unless it differs.
$(image): always
	$(swift) build --scratch-path "$(SCRATCH)"
	cmp -s "$(SCRATCH)/debug/lib@NAME@.so" $@ || { cp "$(SCRATCH)/debug/lib@NAME@.so" $@.new && mv $@.new $@; }

status: $(image)
	"$(HOST)" status --simulate

test: $(image)
	$(swift) test --scratch-path "$(SCRATCH)"
	sh generated/check "$(HOST)" $(image)

# The level of the rules that the plugin keeps, which connector-host shows as long as the image stays the same.
certify: $(image)
	"$(HOST)" test $(image) --answers answers.json --strict 10 --certify

clean:
	rm -rf $(image) "$(SCRATCH)"
