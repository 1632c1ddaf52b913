// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The lines of standard input, as they arrive.
///
/// Unlike `readLine()`, waiting for input blocks no thread of the cooperative pool, and a signal can end the wait.
struct InputLines {
    /// A line that is not blank.
    struct Line: Sendable {
        /// Its number, from 1; blank lines are counted, too.
        var number: Int
        /// Its bytes without the line feed. A carriage return before that is kept; it is white space in JSON.
        var text: [UInt8]
    }

    /// The beginning of a line whose end has not arrived.
    private var rest: [UInt8] = []
    /// The number of lines so far.
    private var count = 0
    private var isAtEnd = false

    /// Waits for input or its end; returns false if the task is cancelled before that.
    static func areReady() async -> Bool {
        if hasInput(within: 0) { return true }
        let ready = OneShot<Void>()
        // After a cancellation the thread keeps waiting, and ends with the process.
        let wait: @Sendable () -> Void = {
            _ = hasInput(within: -1)
            ready.send()
        }
        if !HostThread.start("input", wait) { wait() }
        return await ready.waitUnlessCancelled() != nil
    }

    /// Whether a read would return at once, even if with an error. Waits at most the given time; -1 for no limit.
    private static func hasInput(within milliseconds: Int32) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while true {
            let count = unsafe poll(&input, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count != 0 }
        }
    }

    /// Reads once, which does not block after ``areReady()`` has returned true.
    ///
    /// - Returns: The lines that are complete and, at the end of the input, the last one; nil after that.
    /// - Throws: `unreadable` with the system's reason; `too-large` for a line longer than a JSON document may be.
    mutating func next() throws(ConnectorError) -> [Line]? {
        guard !isAtEnd else { return nil }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let length = unsafe read(STDIN_FILENO, &buffer, buffer.count)
        guard length >= 0 else {
            let error = SystemError()
            if error.number == EINTR || error.number == EAGAIN { return [] }
            throw ConnectorError(.unreadable, "standard input cannot be read", cause: error.description)
        }
        isAtEnd = length == 0
        let parts = buffer.prefix(length).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var lines: [Line] = []
        for (index, part) in parts.enumerated() {
            rest += part
            guard index < parts.count - 1 || isAtEnd else { break }
            count += 1
            if !rest.allSatisfy(\.isWhitespace) { lines.append(Line(number: count, text: rest)) }
            rest = []
        }
        guard rest.count <= JSONParser.sizeLimit else {
            throw ConnectorError(
                .tooLarge,
                "line \(count + 1) of standard input is longer than \(JSONParser.sizeLimit >> 20) MiB"
            )
        }
        return lines
    }
}
