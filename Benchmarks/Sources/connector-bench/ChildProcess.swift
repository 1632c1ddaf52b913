// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Programs that print what they have measured.
enum ChildProcess {
    /// Runs a command, and answers the numbers that it prints.
    ///
    /// - Parameter command: Program and arguments; variables of the environment may stand before it, as in a shell.
    static func numbers(_ command: [String]) throws -> [Double] {
        let output = try output(command)
        let numbers = output.split { $0 == " " || $0 == "\n" }.compactMap { Double(String($0)) }
        guard !numbers.isEmpty else { throw Failure("\(command.joined(separator: " ")) printed no numbers: \(output)") }
        return numbers
    }

    /// Runs a command, and answers what it prints.
    static func output(_ command: [String]) throws -> String {
        let line = command.map { $0.contains("=") ? $0 : "'\($0)'" }.joined(separator: " ")
        guard let stream = unsafe popen(line, "r") else { throw Failure("\(line) cannot be started") }
        var text: [UInt8] = []
        while true {
            let byte = unsafe getc(stream)
            guard byte != EOF else { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        guard unsafe pclose(stream) == 0 else { throw Failure("\(line) failed") }
        return String(decoding: text, as: UTF8.self)
    }
}
