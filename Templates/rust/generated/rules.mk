# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test certify clean always
.DEFAULT_GOAL := all
export CARGO_TARGET_DIR

image := lib@NAME@.so
cargo := env -u MAKEFLAGS cargo

all: $(image)

# Cargo knows what has changed. The image stays as it is unless it differs.
$(image): always
	$(cargo) build --quiet --offline --release
	cmp -s "$(CARGO_TARGET_DIR)/release/lib@SNAKE@.so" $@ || \
		{ cp "$(CARGO_TARGET_DIR)/release/lib@SNAKE@.so" $@.new && mv $@.new $@; }

status: $(image)
	"$(HOST)" status --simulate

test: $(image)
	$(cargo) test --quiet --offline
	sh generated/check "$(HOST)" $(image)

# The level of the rules that the plugin keeps, which connector-host shows as long as the image stays the same.
certify: $(image)
	"$(HOST)" test $(image) --answers answers.json --strict 10 --certify

clean:
	rm -rf $(image) "$(CARGO_TARGET_DIR)"
