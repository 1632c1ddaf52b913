// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorLoading
@testable import ConnectorManifest

#if os(Linux)
    /// What a debugger in another process sees of a loaded plugin.
    @Suite(.timeLimit(.minutes(5))) struct DebuggerTests {
        /// A debugger that asks no questions, with a time limit, because on some systems it waits for ever.
        private static let gdb = "timeout 60 gdb --batch -nx -iex 'set debuginfod enabled off'"

        /// Whether gdb is installed, and may trace.
        private static var canDebug: Bool {
            Fixtures.has("gdb")
                && Fixtures.run("\(gdb) -ex run --args true < /dev/null 2>&1 | grep -q 'exited normally'") == 0
        }

        @Test(
            .enabled("gdb is not installed, or may not trace") { canDebug },
            .enabled(if: !Sanitizer.isPresent, "the program is not built for a sanitizer")
        )
        func `a debugger stops in a plugin's function, and names file and line`() throws {
            try Fixtures.withDirectory { directory in
                let path = try Fixtures.compile(
                    """
                    #include "fixture.h"
                    CONNECTOR_MANIFEST(\(Fixtures.manifest("debugged", "1.0.0")));
                    static int32_t debugged_open(void *instance, const connector_call *call, connector_error *error) {
                        return fixture_open(instance, call, error);
                    }
                    FIXTURE_PLUGIN(debugged_open)
                    """,
                    into: directory,
                    as: "debugged",
                    flags: "-g"
                )
                let configuration = #"{"version": 1, "connectors": [{"name": "a", "plugin": "\#(path)"}]}"#
                try Fixtures.write(Array(configuration.utf8), to: "\(directory)/connectors.json")
                let command = """
                    \(Self.gdb) -ex 'set breakpoint pending on' -ex 'break debugged_open' -ex run -ex bt -ex kill \
                    --args '\(ImageMutationTests.program)' status --config '\(directory)/connectors.json' \
                    < /dev/null > '\(directory)/log' 2>&1
                    """
                _ = Fixtures.run(command)
                let log = String(decoding: try Fixtures.bytes("\(directory)/log"), as: UTF8.self)
                #expect(log.contains("debugged.c:4") || log.contains("debugged.c:3"), "\(log.suffix(2000))")
                #expect(log.contains("debugged_open"))
            }
        }

        @Test func `an image that is kept is loaded from a file that stays`() throws {
            try Fixtures.withDirectory { directory in
                let path = try Fixtures.plugin("profiled", "1.0.0", in: directory, as: "profiled")
                // The loader makes it.
                let kept = "\(directory)/kept"
                _ = try PluginLoader(storage: .kept(kept)).load(PluginCatalog.candidate(path: path))
                let names = LoadedLibraries.current().map(\.path).filter { $0.hasPrefix(kept) }
                #expect(names.count == 1)
                #expect(
                    names.allSatisfy {
                        $0.hasSuffix("/libprofiled.so") && Fixtures.run("cmp -s '\($0)' '\(path)'") == 0
                    }
                )
            }
        }

        @Test func `a directory that images cannot be kept in is an error that names the variable`() throws {
            try Fixtures.withDirectory { directory in
                let path = try Fixtures.plugin("unkept", "1.0.0", in: directory, as: "unkept")
                let error = #expect(throws: ConnectorError.self) {
                    try PluginLoader(storage: .kept("\(path)/kept")).load(PluginCatalog.candidate(path: path))
                }
                #expect(error?.code == .loadFailed)
                #expect(error?.fix?.contains("CONNECTOR_KEEP_IMAGES") == true, "\(String(describing: error))")
            }
        }

        @Test func `the name of a loaded image can be opened by another process`() throws {
            try Fixtures.withDirectory { directory in
                let path = try Fixtures.plugin("opened", "1.0.0", in: directory, as: "opened")
                let plugin = try PluginLoader().load(PluginCatalog.candidate(path: path))
                #expect(plugin.manifest.id == "opened")
                let names = LoadedLibraries.current().map(\.path).filter { $0.hasPrefix("/proc/") }
                #expect(!names.isEmpty)
                #expect(names.contains { Fixtures.run("cmp -s '\($0)' '\(path)'") == 0 })
            }
        }
    }
#endif
