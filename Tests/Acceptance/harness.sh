# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of this folder share; they load it with `source`. It gives them
#
#   $scratch                 a directory that is removed at the end, with everything that was started
#   free_port                a port of the loopback interface that nobody listens on
#   start NAME COMMAND…      starts a server (a program, no function), whose output goes to $scratch/NAME.log
#   stop NAME [SIGNAL]       stops it, and waits for its end
#   await NAME URL           waits until a server answers, with whatever status
#   virtual_environment PACKAGE…   makes one in $scratch/python with packages of PyPI
#   debian_packages PACKAGE…       makes sure that packages of Debian are installed
#   unpack PACKAGE                 unpacks a package of Debian into $scratch/PACKAGE, without installing it
#   configure                takes connectors.json from standard input, without the plugin directories and the isolation
#   host ARGUMENT…           runs connector-host on it, keeping what it answers
#   expect WHAT EXPRESSION   a check: a Python expression over the last answer
#   take EXPRESSION          a part of the last answer
#
# Environment: CONNECTOR_HOST, the executable, and CONNECTOR_PLUGINS, the directory of the adapters. Without them the build
# of this checkout is taken, with the adapters that `make plugins` put into Plugins/. CONNECTOR_ISOLATION, none or process, says
# where the adapters run; each report must then say so, too.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CONNECTOR_HOST=${CONNECTOR_HOST:-$root/.build/bin/connector-host}
CONNECTOR_PLUGINS=${CONNECTOR_PLUGINS:-$root/Plugins}
export CONNECTOR_ISOLATION=${CONNECTOR_ISOLATION:-none}
[ -x "$CONNECTOR_HOST" ] || { echo "error: no $CONNECTOR_HOST; run: make plugins" >&2; exit 2; }

scratch=$(mktemp -d)
chmod 755 "$scratch"
passed=0
failed=0
declare -A servers=()

finish() {
    local status=$? name
    trap - EXIT INT TERM
    for name in "${!servers[@]}"; do kill "${servers[$name]}" 2> /dev/null || true; done
    for name in "${!servers[@]}"; do stop "$name"; done
    if [ "$status" != 0 ] || [ "$failed" != 0 ]; then
        for log in "$scratch"/*.log; do
            [ -f "$log" ] && { echo "--- ${log##*/}"; tail -n 20 "$log"; } >&2
        done
    fi
    rm -rf "$scratch"
    echo "$passed passed, $failed failed"
    [ "$status" = 0 ] && [ "$failed" = 0 ] && [ "$passed" != 0 ] || exit 1
}
trap finish EXIT
trap 'exit 1' INT TERM

section() { printf '\n%s\n' "$*"; }

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
    local name=$1
    shift
    "$@" > "$scratch/$name.log" 2>&1 < /dev/null &
    servers[$name]=$!
}

stop() {
    local pid=${servers[$1]:-}
    [ -n "$pid" ] || return 0
    unset "servers[$1]"
    kill -s "${2:-TERM}" "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
}

# Only an answer shows that a server serves; one that has ended will never answer.
await() {
    local seconds
    for seconds in {1..120}; do
        curl --silent --output /dev/null --max-time 10 "$2" && return
        kill -0 "${servers[$1]}" 2> /dev/null || break
        sleep 1
    done
    echo "error: $1 does not answer at $2" >&2
    exit 1
}

virtual_environment() {
    python3 -m venv "$scratch/python"
    "$scratch/python/bin/pip" install --quiet --disable-pip-version-check "$@"
    "$scratch/python/bin/pip" list --disable-pip-version-check --format freeze 2> /dev/null \
        | grep --ignore-case --fixed-strings --line-regexp "$(printf '%s\n' "$@")" || true
}

debian_packages() {
    local package missing=()
    for package in "$@"; do
        [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    if [ "$(id -u)" != 0 ]; then
        echo "error: please install: ${missing[*]}" >&2
        exit 2
    fi
    apt-get update --quiet=2
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}" > /dev/null
}

unpack() {
    mkdir -p "$scratch/packages"
    download() { (cd "$scratch/packages" && apt-get download --quiet=2 "$1" 2> "$scratch/apt.log"); }
    # The package lists of a fresh machine are empty.
    download "$1" || { apt-get update --quiet=2 && download "$1"; } \
        || { cat "$scratch/apt.log" >&2; echo "error: apt-get has no package $1; it is in Debian 12" >&2; exit 2; }
    dpkg --extract "$scratch/packages/$1"_*.deb "$scratch/$1"
}

# Serves one vendor of the simulator as a process of its own: the second vendor, where no second server is available.
simulate() {
    local port
    port=$(free_port)
    start "simulated-$1" "$CONNECTOR_HOST" simulate --vendor "$1" --port "$port"
    await "simulated-$1" "http://127.0.0.1:$port/_received"
    simulated=http://127.0.0.1:$port
}

configure() {
    PLUGINS=$CONNECTOR_PLUGINS python3 -c '
import json, os, sys
tree = json.load(sys.stdin)
defaults = {"version": 1, "plugins": [os.environ["PLUGINS"]], "isolation": os.environ["CONNECTOR_ISOLATION"]}
json.dump({**defaults, **tree}, sys.stdout, indent=2)
' > "$scratch/connectors.json"
}

# What it prints on standard output is in $scratch/answer, on standard error in $scratch/messages, its status in $status.
host() {
    local command=$1
    shift
    status=0
    "$CONNECTOR_HOST" "$command" --config "$scratch/connectors.json" --json "$@" \
        > "$scratch/answer" 2> "$scratch/messages" || status=$?
}

call() { host call "$@"; }

# In the expression: `answer`, the document; `result`, what a call answered; `error`, the first error, and `code`, its code;
# `gate(path)` of a report; `evidence(path)`, the kinds of evidence; `status`, the exit status; `var`, the environment.
expect() {
    if status=$status python3 "$root/Tests/Acceptance/answer.py" expect "$scratch" "$2"; then
        passed=$((passed + 1))
        echo "  ok    $1"
    else
        failed=$((failed + 1))
        echo "  FAIL  $1"
    fi
}

# Prints the value of an expression; nothing if it has none, which the next check will notice.
take() { status=$status python3 "$root/Tests/Acceptance/answer.py" take "$scratch" "$1"; }

# Asks a server directly, without the adapter, so that `expect` sees its answer.
ask() {
    status=0
    curl --silent --show-error "$@" > "$scratch/answer" 2> "$scratch/messages" || status=$?
}
