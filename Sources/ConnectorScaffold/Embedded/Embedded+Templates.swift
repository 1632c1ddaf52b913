// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Written by `make embed`; not edited.
// swift-format-ignore-file

extension Embedded {
    /// The files of projects, with names to fill in, by language.
    static let templates: [String: String] = [
"c/Makefile": ##"""
# Yours to change. What builds and tests the plugin is in generated/rules.mk.
CFLAGS ?= -O2 -g
# Libraries that the plugin needs, such as -lz.
LDLIBS ?=
HOST ?= connector-host

include generated/rules.mk

"""##,
"c/generated/rules.mk": ##"""
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

"""##,
"c/src/@NAME@.c": ##"""
#include <connector/author.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "language": "c",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        @MANIFESTED@
    }
});

/* One gate. It is never changed after `create`, so that any thread may read it. */
typedef struct adapter {
    connector_gate gate;
    char endpoint[512];
} adapter;

/* Sends a request with the key, which the host puts in as it sends the request. `type` is that of the body; null for none. */
static int32_t send_request(const adapter *self, const connector_call *call_borrowed, const char *method,
                            connector_text *url, const char *type, const void *body, uint64_t length,
                            connector_exchange exchange, connector_error *error) {
    const connector_http_header headers[] = {
        {"Authorization", 13, "Bearer {{secret:apiKey}}", 24},
        {"Content-Type", 12, type, type == NULL ? 0 : strlen(type)},
    };
    connector_http_request request;
    memset(&request, 0, sizeof request);
    request.flags = CONNECTOR_HTTP_VERBATIM_BODY;
    request.method = method;
    request.method_length = strlen(method);
    request.headers = headers;
    request.header_count = type == NULL ? 1 : 2;
    request.body = body;
    request.body_length = length;
    return connector_send(&self->gate, call_borrowed, &request, url, exchange, error);
}

/* The answer to `open`. A status alone proves nothing: a captive portal says 200, too. */
static void account_answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_json answer = connector_json_parse(response->body, response->body_length);
    char account[64];
    if (connector_json_string(connector_json_member(answer, "account"), account, sizeof account) != CONNECTOR_OK) {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no account");
        return;
    }
    connector_complete_evidence(exchange->gate->host, exchange->operation, "authenticated", account);
}

/* Requests something that needs the key, changes nothing and costs nothing. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    const adapter *self = instance;
    const connector_exchange exchange = {NULL, 0, account_answered, ""};
    connector_text url = {NULL, 0, 0, 0};
    connector_text_base(&url, self->endpoint);
    connector_text_put(&url, "/account");
    return send_request(self, call_borrowed, "GET", &url, NULL, NULL, 0, exchange, error);
}

/* The answer to an operation, which is the vendor's as it is: what kind it has stands in the note. A web page is no answer. */
static void answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_host *host = exchange->gate->host;
    const int is_json = connector_json_parse(response->body, response->body_length).text != NULL;
    const uint8_t *result = response->body;
    uint64_t length = response->body_length;
    if (strcmp(exchange->note, "bytes") != 0 && length > 0 && !is_json) {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL, "the answer is not the vendor's: it is not JSON");
        return;
    }
    if (strcmp(exchange->note, "nothing") == 0) {
        result = NULL;
        length = 0;
    } else if (length == 0) {
        /* JSON has an address, even that of nothing. */
        result = (const uint8_t *)"null";
        length = strcmp(exchange->note, "json") == 0 ? 4 : 0;
    }
    host->complete(host->context, exchange->operation, CONNECTOR_OK, result, length, NULL);
}

/* The operations. Their prototypes follow from their signatures: see connector/operation.h. */

@OPERATIONS@

static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    const connector_json config = connector_json_parse(config_borrowed, config_length);
    adapter *self = calloc(1, sizeof *self);
    int32_t status;
    if (self == NULL) return connector_fail(error, CONNECTOR_FAILED, "out of memory");
    status = connector_gate_create(&self->gate, host, "@NAME@", error);
    if (status == CONNECTOR_OK) {
        status = connector_json_string(connector_json_member(config, "endpoint"), self->endpoint, sizeof self->endpoint);
        if (status != CONNECTOR_OK) connector_fail(error, status, "the endpoint is longer than 511 bytes");
    }
    if (status == CONNECTOR_OK) *instance_owned = self;
    else free(self);
    return status;
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *@SNAKE@_plugin(void) {
    static const connector_plugin plugin = {
        sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}

"""##,
"common/LICENSE": ##"""

                                 Apache License
                           Version 2.0, January 2004
                        http://www.apache.org/licenses/

   TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION

   1. Definitions.

      "License" shall mean the terms and conditions for use, reproduction,
      and distribution as defined by Sections 1 through 9 of this document.

      "Licensor" shall mean the copyright owner or entity authorized by
      the copyright owner that is granting the License.

      "Legal Entity" shall mean the union of the acting entity and all
      other entities that control, are controlled by, or are under common
      control with that entity. For the purposes of this definition,
      "control" means (i) the power, direct or indirect, to cause the
      direction or management of such entity, whether by contract or
      otherwise, or (ii) ownership of fifty percent (50%) or more of the
      outstanding shares, or (iii) beneficial ownership of such entity.

      "You" (or "Your") shall mean an individual or Legal Entity
      exercising permissions granted by this License.

      "Source" form shall mean the preferred form for making modifications,
      including but not limited to software source code, documentation
      source, and configuration files.

      "Object" form shall mean any form resulting from mechanical
      transformation or translation of a Source form, including but
      not limited to compiled object code, generated documentation,
      and conversions to other media types.

      "Work" shall mean the work of authorship, whether in Source or
      Object form, made available under the License, as indicated by a
      copyright notice that is included in or attached to the work
      (an example is provided in the Appendix below).

      "Derivative Works" shall mean any work, whether in Source or Object
      form, that is based on (or derived from) the Work and for which the
      editorial revisions, annotations, elaborations, or other modifications
      represent, as a whole, an original work of authorship. For the purposes
      of this License, Derivative Works shall not include works that remain
      separable from, or merely link (or bind by name) to the interfaces of,
      the Work and Derivative Works thereof.

      "Contribution" shall mean any work of authorship, including
      the original version of the Work and any modifications or additions
      to that Work or Derivative Works thereof, that is intentionally
      submitted to Licensor for inclusion in the Work by the copyright owner
      or by an individual or Legal Entity authorized to submit on behalf of
      the copyright owner. For the purposes of this definition, "submitted"
      means any form of electronic, verbal, or written communication sent
      to the Licensor or its representatives, including but not limited to
      communication on electronic mailing lists, source code control systems,
      and issue tracking systems that are managed by, or on behalf of, the
      Licensor for the purpose of discussing and improving the Work, but
      excluding communication that is conspicuously marked or otherwise
      designated in writing by the copyright owner as "Not a Contribution."

      "Contributor" shall mean Licensor and any individual or Legal Entity
      on behalf of whom a Contribution has been received by Licensor and
      subsequently incorporated within the Work.

   2. Grant of Copyright License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      copyright license to reproduce, prepare Derivative Works of,
      publicly display, publicly perform, sublicense, and distribute the
      Work and such Derivative Works in Source or Object form.

   3. Grant of Patent License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      (except as stated in this section) patent license to make, have made,
      use, offer to sell, sell, import, and otherwise transfer the Work,
      where such license applies only to those patent claims licensable
      by such Contributor that are necessarily infringed by their
      Contribution(s) alone or by combination of their Contribution(s)
      with the Work to which such Contribution(s) was submitted. If You
      institute patent litigation against any entity (including a
      cross-claim or counterclaim in a lawsuit) alleging that the Work
      or a Contribution incorporated within the Work constitutes direct
      or contributory patent infringement, then any patent licenses
      granted to You under this License for that Work shall terminate
      as of the date such litigation is filed.

   4. Redistribution. You may reproduce and distribute copies of the
      Work or Derivative Works thereof in any medium, with or without
      modifications, and in Source or Object form, provided that You
      meet the following conditions:

      (a) You must give any other recipients of the Work or
          Derivative Works a copy of this License; and

      (b) You must cause any modified files to carry prominent notices
          stating that You changed the files; and

      (c) You must retain, in the Source form of any Derivative Works
          that You distribute, all copyright, patent, trademark, and
          attribution notices from the Source form of the Work,
          excluding those notices that do not pertain to any part of
          the Derivative Works; and

      (d) If the Work includes a "NOTICE" text file as part of its
          distribution, then any Derivative Works that You distribute must
          include a readable copy of the attribution notices contained
          within such NOTICE file, excluding those notices that do not
          pertain to any part of the Derivative Works, in at least one
          of the following places: within a NOTICE text file distributed
          as part of the Derivative Works; within the Source form or
          documentation, if provided along with the Derivative Works; or,
          within a display generated by the Derivative Works, if and
          wherever such third-party notices normally appear. The contents
          of the NOTICE file are for informational purposes only and
          do not modify the License. You may add Your own attribution
          notices within Derivative Works that You distribute, alongside
          or as an addendum to the NOTICE text from the Work, provided
          that such additional attribution notices cannot be construed
          as modifying the License.

      You may add Your own copyright statement to Your modifications and
      may provide additional or different license terms and conditions
      for use, reproduction, or distribution of Your modifications, or
      for any such Derivative Works as a whole, provided Your use,
      reproduction, and distribution of the Work otherwise complies with
      the conditions stated in this License.

   5. Submission of Contributions. Unless You explicitly state otherwise,
      any Contribution intentionally submitted for inclusion in the Work
      by You to the Licensor shall be under the terms and conditions of
      this License, without any additional terms or conditions.
      Notwithstanding the above, nothing herein shall supersede or modify
      the terms of any separate license agreement you may have executed
      with Licensor regarding such Contributions.

   6. Trademarks. This License does not grant permission to use the trade
      names, trademarks, service marks, or product names of the Licensor,
      except as required for reasonable and customary use in describing the
      origin of the Work and reproducing the content of the NOTICE file.

   7. Disclaimer of Warranty. Unless required by applicable law or
      agreed to in writing, Licensor provides the Work (and each
      Contributor provides its Contributions) on an "AS IS" BASIS,
      WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or
      implied, including, without limitation, any warranties or conditions
      of TITLE, NON-INFRINGEMENT, MERCHANTABILITY, or FITNESS FOR A
      PARTICULAR PURPOSE. You are solely responsible for determining the
      appropriateness of using or redistributing the Work and assume any
      risks associated with Your exercise of permissions under this License.

   8. Limitation of Liability. In no event and under no legal theory,
      whether in tort (including negligence), contract, or otherwise,
      unless required by applicable law (such as deliberate and grossly
      negligent acts) or agreed to in writing, shall any Contributor be
      liable to You for damages, including any direct, indirect, special,
      incidental, or consequential damages of any character arising as a
      result of this License or out of the use or inability to use the
      Work (including but not limited to damages for loss of goodwill,
      work stoppage, computer failure or malfunction, or any and all
      other commercial damages or losses), even if such Contributor
      has been advised of the possibility of such damages.

   9. Accepting Warranty or Additional Liability. While redistributing
      the Work or Derivative Works thereof, You may choose to offer,
      and charge a fee for, acceptance of support, warranty, indemnity,
      or other liability obligations and/or rights consistent with this
      License. However, in accepting such obligations, You may act only
      on Your own behalf and on Your sole responsibility, not on behalf
      of any other Contributor, and only if You agree to indemnify,
      defend, and hold each Contributor harmless for any liability
      incurred by, or claims asserted against, such Contributor by reason
      of your accepting any such warranty or additional liability.

   END OF TERMS AND CONDITIONS

   APPENDIX: How to apply the Apache License to your work.

      To apply the Apache License to your work, attach the following
      boilerplate notice, with the fields enclosed by brackets "[]"
      replaced with your own identifying information. (Don't include
      the brackets!)  The text should be enclosed in the appropriate
      comment syntax for the file format. We also recommend that a
      file or class name and description of purpose be included on the
      same "printed page" as the copyright notice for easier
      identification within third-party archives.

   Copyright [yyyy] [name of copyright owner]

   Licensed under the Apache License, Version 2.0 (the "License");
   you may not use this file except in compliance with the License.
   You may obtain a copy of the License at

       http://www.apache.org/licenses/LICENSE-2.0

   Unless required by applicable law or agreed to in writing, software
   distributed under the License is distributed on an "AS IS" BASIS,
   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
   See the License for the specific language governing permissions and
   limitations under the License.

"""##,
"common/README.md": ##"""
# @NAME@

A plugin for connector-host, in @LANGUAGE@: the capability `@CAPABILITY@` of @URL@.

```
make            # build the plugin
make status     # open its gate, with the answers of answers.json in place of the vendor
make test       # build it, check its manifest, open its gate, and make the calls of tests/calls
make certify    # check it against the rules for plugins, and write its level into conformance.json
```

| file | what it is |
|---|---|
| @SOURCE@ | the plugin: change what it asks, and what proves that the vendor answered |
| @MANIFEST@ | its manifest: what it can do, which fields it takes, which hosts it reaches |
| answers.json | what the vendor would answer, for `make status` and `make test` |
| tests/calls | calls, and what must come of them |
| connectors.json | a file that names the plugin, for trying it |
| .github/workflows/test.yml | builds and tests the plugin on every push |
| generated/ | what `connector-host new --update` brings to a newer host; not edited |

An operation is one request, and the answer's body is its result: `POST /NAME`, or GET for one that only reads and has no content. JSON
and bytes are the content, and other arguments are in the query. A status but 2xx is an error, and so is an answer that is not JSON
where JSON is due. Change it to what your vendor wants.

Without the simulation, with a key of your own:

```
@VARIABLE@=… connector-host status
```

It was made for connector-host @VERSION@. `make` uses the one in PATH, or `make HOST=/path/to/connector-host`. With a newer one,
`connector-host new --update .` changes the files in generated/, and no other; what was edited there stays, and the newer text is
written beside it.

"""##,
"common/answers.json": ##"""
@ANSWERS@

"""##,
"common/connectors.json": ##"""
{
  "version": 1,
  "plugins": ["."],
  "connectors": [
    {
      "name": "@NAME@",
      "plugin": "@NAME@",
      "config": { "apiKey": { "secret": "env:@VARIABLE@" } },
      "simulate": "answers.json"
    }
  ]
}

"""##,
"common/generated/check": ##"""
#!/bin/sh
# Checks a built plugin without a network: its manifest, its gate, and the calls of tests/calls. Written by connector-host @VERSION@.
#
# Usage: generated/check CONNECTOR-HOST IMAGE
set -u
host=$1
image=$2
failures=0
checks=0
: "${@VARIABLE@:=demo}"
export @VARIABLE@

fail() {
    echo "✗ $1" >&2
    failures=$((failures + 1))
}

version=$("$host" --version) || exit 1
if [ "$version" != "@VERSION@" ]; then
    echo "✗ this project is for connector-host @VERSION@, and $host is $version: run $host new --update ." >&2
    exit 1
fi

checks=$((checks + 1))
"$host" inspect "$image" > /dev/null || fail "the image would not load: $host inspect $image"
checks=$((checks + 1))
"$host" status --simulate > /dev/null || fail "the gate does not open: $host status --simulate"

while IFS= read -r line || [ -n "$line" ]; do
    case $line in '' | '#'*) continue ;; esac
    arguments=${line%% -> *}
    expected=
    case $line in *' -> '*) expected=${line#* -> } ;; esac
    checks=$((checks + 1))
    # Words are separated by blanks, and may not hold any.
    set -f
    # shellcheck disable=SC2086
    actual=$("$host" call --simulate @NAME@ $arguments 2>&1)
    status=$?
    # shellcheck disable=SC2086
    set -- $actual
    actual=$*
    set +f
    case $expected in
    'error: '*)
        [ "$status" -ne 0 ] || fail "$arguments: no error, but $actual"
        case $actual in
        *"${expected#error: }"*) ;;
        *) fail "$arguments: expected an error with \"${expected#error: }\", got: $actual" ;;
        esac
        ;;
    *)
        [ "$status" -eq 0 ] && [ "$actual" = "$expected" ] || fail "$arguments: expected $expected, got: $actual"
        ;;
    esac
done < tests/calls

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]

"""##,
"common/generated/install-host": ##"""
#!/bin/sh
# Builds connector-host @VERSION@ into a folder, for machines that do not have it. Needs git, make and Swift, and takes some minutes.
#
# Usage: generated/install-host FOLDER
set -eu
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
[ ! -x "$prefix/bin/connector-host" ] || exit 0
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
git clone --quiet --depth 1 --branch @VERSION@ https://github.com/connector-host/connector-host "$source"
make -C "$source" install CONFIGURATION=release PREFIX="$prefix"

"""##,
"common/gitignore": ##"""
*.so
*.dylib
*.new
target/
.build/
conformance.json

"""##,
"common/tests/calls": ##"""
# Each line is a call that `make test` makes, with the answers of answers.json, and what must come of it after "->": an answer, of
# whose blanks in a row one counts, or an error with these words; nothing without "->".
@CALLS@

"""##,
"common/workflow.yml": ##"""
# Builds and tests the plugin on every push. The host is built once for each release, and kept.
name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    container: swift:6.3
    steps:
      - uses: actions/checkout@v4
      - run: apt-get update && apt-get install --yes @PACKAGES@
      - uses: actions/cache@v4
        with:
          path: host
          key: connector-host-${{ hashFiles('generated/install-host') }}
      - run: sh generated/install-host host
      - run: make test certify HOST="$PWD/host/bin/connector-host"

"""##,
"cpp/Makefile": ##"""
# Yours to change. What builds and tests the plugin is in generated/rules.mk.
CXXFLAGS ?= -O2 -g
# Libraries that the plugin needs, such as -lz.
LDLIBS ?=
HOST ?= connector-host

include generated/rules.mk

"""##,
"cpp/generated/rules.mk": ##"""
# Builds and tests the plugin. Written by connector-host @VERSION@.
.PHONY: all status test certify clean
.DEFAULT_GOAL := all

image := lib@NAME@.so
sources := $(shell find src -name '*.cpp')
objects := $(sources:%.cpp=.build/%.o)
# What no library defines is an error here already, as it is with every linker for macOS.
ifneq ($(shell uname),Darwin)
complete := -Wl,-z,defs
endif

all: $(image)

# A folder changes when a source is removed from it.
$(image): $(objects) $(shell find src -type d) $(MAKEFILE_LIST)
	$(CXX) $(CXXFLAGS) -shared $(complete) $(objects) $(LDFLAGS) $(LDLIBS) -o $@.new
	mv $@.new $@

.build/%.o: %.cpp $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -pedantic $(CXXFLAGS) -fPIC -fvisibility=hidden -Igenerated -MMD -MP -c $< -o $@

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

"""##,
"cpp/src/@NAME@.cpp": ##"""
#include <connector/author.hpp>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "language": "c++",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        @MANIFESTED@
    }
});

namespace {

using connector::Call;
using connector::Response;
using connector::Text;

/* One gate. It is never changed after `create`, so that any thread may read it. */
class Adapter {
public:
    static connector::Result<std::unique_ptr<Adapter>> create(connector::Host host, connector::Json config) {
        auto endpoint = config["endpoint"].string();
        if (!endpoint) return connector::Error{CONNECTOR_INVALID, "endpoint is not a string"};
        return std::unique_ptr<Adapter>(new Adapter(host, *endpoint));
    }

    /* Requests something that needs the key, changes nothing and costs nothing. */
    void open(Call call) {
        send(std::move(call), "GET", url("/account"), {}, [](Call call, Response response) {
            /* A status alone proves nothing: a captive portal says 200, too. */
            const auto account = response.json()["account"].string();
            if (!account) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no account"});
            call.prove("authenticated", *account);
        });
    }

    void probe(Call call) { open(std::move(call)); }

    /* A URL of the vendor's. */
    Text url(std::string_view path) const { return std::move(Text().base(endpoint).put(path)); }

    /* The content of a request. */
    struct Body {
        std::string_view type = {};
        std::string_view bytes = {};
    };

    /* Sends a request with the key, which the host puts in as it sends the request. */
    template <class Answered>
    void send(Call call, std::string_view method, Text url, Body body, Answered answered) const {
        const connector_http_header headers[] = {
            {"Authorization", 13, "Bearer {{secret:apiKey}}", 24},
            {"Content-Type", 12, body.type.data(), body.type.size()},
        };
        connector_http_request request = {};
        request.flags = CONNECTOR_HTTP_VERBATIM_BODY;
        request.method = method.data();
        request.method_length = method.size();
        request.headers = headers;
        request.header_count = body.type.empty() ? 1 : 2;
        request.body = reinterpret_cast<const uint8_t *>(body.bytes.data());
        request.body_length = body.bytes.size();
        host.send(std::move(call), request, std::move(url), std::move(answered));
    }

    /* Answers of operations, which are the vendor's as they are: JSON, or nothing, or bytes. A web page is no answer. */
    static void json(Call call, Response response) {
        if (response.body().empty()) return call.complete("null");
        if (!response.json()) return call.fail(not_json());
        call.complete(response.body());
    }
    static void nothing(Call call, Response response) {
        if (!response.body().empty() && !response.json()) return call.fail(not_json());
        call.complete();
    }
    static void bytes(Call call, Response response) { call.complete(response.body()); }

private:
    Adapter(connector::Host host, std::string endpoint) : host(host), endpoint(std::move(endpoint)) {}

    static connector::Error not_json() {
        return {CONNECTOR_PROTOCOL, "the answer is not the vendor's: it is not JSON"};
    }

    const connector::Host host;
    const std::string endpoint;
};

} // namespace

/* The operations. Their prototypes follow from their signatures: see connector/operation.h. */

@OPERATIONS@

CONNECTOR_VENDOR_ENTRY(@SNAKE@_plugin, Adapter, "@NAME@")

"""##,
"rust/@NAME@.manifest.json": ##"""
{
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "language": "rust",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        @MANIFESTED@
    }
}

"""##,
"rust/Cargo.toml": ##"""
[package]
name = "@NAME@"
version = "0.1.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]

[dependencies]
connector = { path = "generated/connector" }

[workspace]

"""##,
"rust/Makefile": ##"""
# Yours to change. What builds and tests the plugin is in generated/rules.mk.
HOST ?= connector-host
CARGO_TARGET_DIR ?= target

include generated/rules.mk

"""##,
"rust/generated/rules.mk": ##"""
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

"""##,
"rust/src/lib.rs": ##"""
#![deny(unsafe_code)]

use connector::{secret, Error, Evidence, Host, Json, Plugin, Request, Response, Url};

/// One gate.
struct Adapter {
    host: Host,
    endpoint: String,
}

impl Plugin for Adapter {
    fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
        Ok(Adapter { host, endpoint: configuration.text("endpoint")? })
    }

    /// Requests something that needs the key, changes nothing and costs nothing.
    async fn open(&self) -> Result<Evidence, Error> {
        let answer = self.fetch(self.host.get(Url::new(&self.endpoint).path("account"))).await?;
        // A status alone proves nothing: a captive portal says 200, too.
        let Some(account) = answer["account"].as_str() else {
            return Err(Error::protocol("the answer is not the vendor's: it has no account"));
        };
        Ok(Evidence::authenticated(account))
    }
}

impl Adapter {
@OPERATIONS@

    /// Fetches JSON; an empty body is null. A web page is no answer.
    async fn fetch(&self, request: Request) -> Result<Json, Error> {
        let response = self.send(request).await?;
        if response.body.is_empty() {
            return Ok(Json::Null);
        }
        response.json().map_err(|_| Error::protocol("the answer is not the vendor's: it is not JSON"))
    }

    /// Sends a request with the key, which the host puts in as it sends the request.
    async fn send(&self, request: Request) -> Result<Response, Error> {
        let authorization = format!("Bearer {}", secret("apiKey"));
        request.header("Authorization", &authorization).send_to("@NAME@").await
    }
}

connector::plugin! {
    type: Adapter,
    manifest: include_str!("../@NAME@.manifest.json"),
    entry: @SNAKE@_plugin,
    operations: {
        @EXPORTS@
    }
}

"""##,
"swift/Makefile": ##"""
# Yours to change. What builds and tests the plugin is in generated/rules.mk.
HOST ?= connector-host
SCRATCH ?= .build

include generated/rules.mk

"""##,
"swift/Package.swift": ##"""
// swift-tools-version: 6.2
import PackageDescription

/// Where the kit for authors is: it comes with connector-host, in share/connector-host/kit, and needs no other package.
let kit = Context.environment["CONNECTOR_KIT"] ?? "@KIT@"

let package = Package(
    name: "@NAME@",
    platforms: [.macOS(.v26)],
    products: [.library(name: "@NAME@", type: .dynamic, targets: ["@NAME@"])],
    dependencies: [.package(name: "connector-kit", path: kit)],
    targets: [
        .target(
            name: "@NAME@",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-kit"),
                .product(name: "ConnectorManifest", package: "connector-kit"),
            ],
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-kit")]
        ),
        .testTarget(
            name: "AdapterTests",
            dependencies: [
                "@NAME@", .product(name: "ConnectorKit", package: "connector-kit"),
                .product(name: "ConnectorManifest", package: "connector-kit"),
            ]
        ),
    ]
)

"""##,
"swift/Sources/@NAME@/@NAME@.connector.json": ##"""
{
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "swiftType": "Adapter",
    "language": "swift",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        @MANIFESTED@
    }
}

"""##,
"swift/Sources/@NAME@/Adapter.swift": ##"""
import ConnectorKit
import ConnectorManifest

/// One gate.
struct Adapter: Plugin {
    /// What proves that the vendor answered. A status alone proves nothing: a captive portal says 200, too.
    private static let account = VendorAnswer(
        "@NAME@",
        [.object(#"with "account""#) { $0["account"]?.string != nil }]
    )
    /// What operations answer, which is the vendor's as it is. A web page is no answer.
    private static let result = VendorAnswer("@NAME@", statuses: 200...299, [.json, .empty])

    private let host: Host
    private let endpoint: HTTPURL
    /// A placeholder: the host puts the value in as it sends a request, and the plugin never sees it.
    private let apiKey: SecretPlaceholder

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        endpoint = try configuration.url("endpoint")
        apiKey = try configuration.secret("apiKey")
    }

    /// Requests something that needs the key, changes nothing and costs nothing.
    func open() async throws -> [Evidence] {
        let answer = try await fetch(HTTPRequest(.get, endpoint.appending("account")), Self.account)
        return [.authenticated(answer["account"]?.string ?? "")]
    }

@OPERATIONS@

    /// Fetches JSON; an empty body is null.
    private func fetch(
        _ request: HTTPRequest,
        _ expected: VendorAnswer = Self.result
    ) async throws(PluginError) -> JSONValue {
        try expected.body(of: await send(request)) { $0.failure(vendor: "@NAME@", now: host.clock.now) }
    }

    /// Fetches bytes.
    private func load(_ request: HTTPRequest) async throws(PluginError) -> [UInt8] {
        let response = try await send(request)
        guard response.isSuccess else { throw response.failure(vendor: "@NAME@", now: host.clock.now) }
        return response.body
    }

    /// Sends a request with the key, which the host puts in as it sends the request.
    private func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(apiKey)"
        return try await host.http.send(request)
    }
}

"""##,
"swift/Tests/AdapterTests/AdapterTests.swift": ##"""
import ConnectorKit
import ConnectorManifest
import Testing

@testable import `@SNAKE@`

/// The plugin, with one answer in place of the vendor.
@Suite struct AdapterTests {
    private struct Vendor: HTTPService {
        let status: Int
        let body: String

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            HTTPResponse(status: status, body: Array(body.utf8))
        }
    }

    private func plugin(_ status: Int, _ body: String) throws -> Adapter {
        let configuration = PluginConfiguration(["endpoint": "@URL@", "apiKey": "{{secret:apiKey}}"])
        return try Adapter(configuration: configuration, host: Host(http: Vendor(status: status, body: body)))
    }

    @Test func `the gate opens on the account`() async throws {
        #expect(try await plugin(200, #"{"account": "demo"}"#).open() == [.authenticated("demo")])
    }

    @Test func `a web page proves nothing`() async throws {
        let plugin = try plugin(200, "<html>Please log in.</html>")
        let error = await #expect(throws: PluginError.self) { _ = try await plugin.open() }
        #expect(error?.status == .protocolViolation)
    }
}

"""##,
"swift/generated/rules.mk": ##"""
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

"""##,
    ]
}
