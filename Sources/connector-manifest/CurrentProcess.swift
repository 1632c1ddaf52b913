// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The process of the tool.
enum CurrentProcess {
    /// The arguments after the program's name; nil in the place of one that is not UTF-8, which as a text would name another file.
    static var arguments: [String?] {
        (1..<max(1, Int(CommandLine.argc))).map { index in
            unsafe CommandLine.unsafeArgv[index].flatMap { unsafe String(validatingCString: $0) }
        }
    }

    /// Exits the process.
    static func exit(status: Int32) -> Never {
        #if canImport(Darwin)
            Darwin.exit(status)
        #elseif canImport(Musl)
            Musl.exit(status)
        #else
            Glibc.exit(status)
        #endif
    }
}
