// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorPlatform

#if os(Linux)
    /// What the handler of fatal signals does to the process and its descriptors to leave a note about its end.
    @Suite struct FatalSignalTests {
        /// A program that puts a file in the place of every pipe, and then fails.
        private static let program = """
            #include <fatal_signal.h>
            #include <fcntl.h>
            #include <sys/stat.h>
            #include <unistd.h>

            int main(int count, char **arguments) {
                struct stat status;
                if (count != 3 || fatal_signal_install(arguments[1]) != 0) return 1;
                int file = open(arguments[2], O_RDWR | O_CREAT, 0600);
                if (file < 0) return 1;
                for (int number = 3; number < 1024; number++) {
                    if (fstat(number, &status) == 0 && S_ISFIFO(status.st_mode)) dup2(file, number);
                }
                *(volatile int *)8 = 0;
                return 0;
            }

            """

        /// A program that ignores some signals, gets them, and then fails.
        private static let deaf = """
            #include <fatal_signal.h>
            #include <signal.h>
            #include <unistd.h>

            int main(int count, char **arguments) {
                signal(SIGTRAP, SIG_IGN);
                signal(SIGABRT, SIG_IGN);
                if (count != 2 || fatal_signal_install(arguments[1]) != 0) return 1;
                kill(getpid(), SIGTRAP);
                if (access(arguments[1], F_OK) == 0) return 2;
                __builtin_trap();
            }

            """

        @Test func `a signal that is sent to the process and that it ignores stays ignored`() throws {
            try Fixtures.withDirectory { directory in
                let status = try Self.run(Self.deaf, "", in: directory)
                #expect(status == 128 + 4 || status == 128 + 5, "\(status)")
                let note = String(decoding: try Fixtures.bytes("\(directory)/note"), as: UTF8.self)
                #expect(note.contains(#""event": "SIG"#), "\(note)")
            }
        }

        /// Compiles a program with the handler, and runs it in a directory.
        private static func run(_ program: String, _ arguments: String, in directory: String) throws -> Int32 {
            let sources = "\(Fixtures.sources.parentPath.parentPath)/Sources/CFatalSignal"
            try Fixtures.write(Array(program.utf8), to: "\(directory)/program.c")
            try #require(
                Fixtures.run(
                    "cc -D_Nullable= -D_Nonnull= -I'\(sources)/include' -pthread '\(sources)'/*.c '\(directory)/program.c' -o '\(directory)/program'"
                ) == 0
            )
            return Fixtures.run("cd '\(directory)' && exec ./program '\(directory)/note' \(arguments) 2> said")
        }

        @Test func `a file that took over a descriptor of the handler receives nothing of the stack`() throws {
            try Fixtures.withDirectory { directory in
                #expect(try Self.run(Self.program, "file", in: directory) == 128 + 11)
                #expect(try Fixtures.bytes("\(directory)/file").isEmpty)
                let note = String(decoding: try Fixtures.bytes("\(directory)/note"), as: UTF8.self)
                #expect(note.contains(#""event": "SIGSEGV""#), "\(note)")
            }
        }

        @Test func `a note names the first gates of an image, and says once that there are more`() {
            var names = GateNames()
            #expect(names.add("a") == "a")
            #expect(names.add("b") == "a, b")
            #expect(names.add("a") == nil)
            let others = (2..<100).compactMap { names.add("gate-\($0)") }
            #expect(others.count == GateNames.limit - 1)
            #expect(others.last?.hasSuffix(", gate-15, and more") == true)
        }

        @Test func `a plugin that has the address of _exit in read-only memory is loaded`() async {
            await #expect(processExitsWith: .success) {
                try Fixtures.withDirectory { directory in
                    let source = """
                        #include "fixture.h"
                        CONNECTOR_MANIFEST(\(Fixtures.manifest("reading", "1.0.0")));
                        __asm__(".section .rodata\\n.balign 8\\n.quad _exit\\n.previous");
                        FIXTURE_PLUGIN(fixture_open)
                        """
                    let path = try Fixtures.compile(
                        source,
                        into: directory,
                        as: "reading",
                        flags: "-Wl,-z,notext"
                    )
                    _ = try PluginLoader().load(PluginCatalog.candidate(path: path))
                }
            }
        }
    }
#endif
