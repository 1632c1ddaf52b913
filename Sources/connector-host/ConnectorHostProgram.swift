// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if CommandLine
    internal import ConnectorHostCommands
#elseif canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The program; everything else is in a library, where tests can reach it.
@main
enum ConnectorHostProgram {
    /// Runs the command that the arguments name and exits with its status.
    static func main() async {
        #if CommandLine
            await CommandLineProgram.main()
        #else
            let text = Array(
                "error: connector-host was built without its commands: build it with the trait CommandLine\n".utf8
            )
            _ = unsafe write(2, text, text.count)
            // EX_UNAVAILABLE in sysexits.h(3).
            exit(69)
        #endif
    }
}
