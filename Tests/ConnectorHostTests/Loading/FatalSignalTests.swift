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

        /// A program that fails in a library, which it has added as a plugin's.
        private static let caller = """
            #include <dlfcn.h>
            #include <fatal_signal.h>
            #include <string.h>

            int main(int count, char **arguments) {
                if (count != 5 || fatal_signal_install(arguments[1]) != 0) return 1;
                void *handle = dlopen(arguments[2], RTLD_NOW);
                int (*fail)(void) = handle == NULL ? NULL : (int (*)(void))dlsym(handle, "fail");
                if (fail == NULL) return 1;
                int use = FATAL_SIGNAL_OWN;
                if (strcmp(arguments[3], "brought") == 0) use = FATAL_SIGNAL_BROUGHT;
                if (strcmp(arguments[3], "shared") == 0) use = FATAL_SIGNAL_SHARED;
                int image = fatal_signal_add_image(handle, "library 1.0.0", "/library.so", use);
                if (image < 0) return 1;
                if (strcmp(arguments[4], "marked") == 0) fatal_signal_set_library(image);
                return fail() + 1;
            }

            """

        @Test func `code that a plugin shares names it only during its calls`() throws {
            try Fixtures.withDirectory { directory in
                let library = try Fixtures.compile(
                    """
                    __attribute__((visibility("default"))) int fail(void) {
                        *(volatile int *)8 = 0;
                        return 0;
                    }
                    """,
                    into: directory,
                    as: "failing"
                )
                try Self.compile(Self.caller, in: directory)
                for (use, isNamed) in [
                    ("own unmarked", true), ("brought unmarked", true), ("shared unmarked", false),
                    ("shared marked", true),
                ] {
                    #expect(Self.execute("'\(library)' \(use)", in: directory) == 128 + 11)
                    let note = String(decoding: try Fixtures.bytes("\(directory)/note"), as: UTF8.self)
                    #expect(note.contains(#""event": "SIGSEGV""#), "\(use): \(note)")
                    #expect(note.contains(#""plugin": "library 1.0.0""#) == isNamed, "\(use): \(note)")
                    #expect(note.contains(#""running": true"#) == isNamed, "\(use): \(note)")
                }
            }
        }

        /// Compiles a program with the handler, and runs it in a directory.
        private static func run(_ program: String, _ arguments: String, in directory: String) throws -> Int32 {
            try compile(program, in: directory)
            return execute(arguments, in: directory)
        }

        /// Runs the program that was compiled last.
        private static func execute(_ arguments: String, in directory: String) -> Int32 {
            Fixtures.run("cd '\(directory)' && exec ./program '\(directory)/note' \(arguments) 2> said")
        }

        private static func compile(_ program: String, in directory: String) throws {
            let sources = "\(Fixtures.sources.parentPath.parentPath)/Sources/CFatalSignal"
            try Fixtures.write(Array(program.utf8), to: "\(directory)/program.c")
            try #require(
                Fixtures.run(
                    "cc -D_Nullable= -D_Nonnull= -I'\(sources)/include' -pthread '\(sources)'/*.c '\(directory)/program.c' -o '\(directory)/program'"
                ) == 0
            )
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
