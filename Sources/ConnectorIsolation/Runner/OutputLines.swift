// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a runner prints, line by line. Of a plugin that prints without end, only so many lines of each second are passed on: the others
/// cost the host's log, and the host's processor, which no bound of the runner limits.
struct OutputLines {
    /// Whether the runner has closed its output.
    private(set) var isOver = false
    /// The last lines, without the stack traces of Swift's runtime: the line before one says what has happened.
    private(set) var last: [String] = []
    private var rest: [UInt8] = []
    /// Whether a stack trace has begun, and not ended.
    private var isInTrace = false
    /// How many lines of one second are passed on.
    private let limit: Int
    /// When that second began, in monotonic time.
    private var start: UInt64 = 0
    /// How many lines of it were passed on.
    private var passed = 0
    /// How many lines were left out, and not reported yet.
    private var leftOut = 0

    /// The longest line, in bytes; a longer one is split.
    private static let lineLimit = 4096
    /// How many lines are kept.
    private static let keptCount = 5
    /// The most that one read takes, in bytes, so that a runner that prints forever does not hold up its calls.
    private static let readLimit = 256 << 10

    /// Creates a reader that has read nothing.
    ///
    /// - Parameter limit: How many lines of one second it passes on.
    init(limit: Int = 1000) { self.limit = limit }

    /// Reads what there is.
    ///
    /// - Parameter now: The monotonic time.
    mutating func read(_ descriptor: Int32, at now: UInt64 = SystemTime.monotonic(), _ each: (String) -> Void) {
        if now - min(now, start) >= 1_000_000_000 {
            report(each)
            (start, passed) = (now, 0)
        }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var total = 0
        while !isOver, total < Self.readLimit {
            let count = unsafe readBytes(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                isOver = true
                return
            }
            total += count
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") || rest.count >= Self.lineLimit { end(each) }
                if byte != UInt8(ascii: "\n") { rest.append(byte) }
            }
        }
    }

    /// Ends the last line.
    mutating func finish(_ each: (String) -> Void) {
        end(each)
        report(each)
    }

    /// Says how many lines were left out.
    private mutating func report(_ each: (String) -> Void) {
        if leftOut > 0 { each("connector-runner: \(leftOut) lines are left out, after \(limit) in a second") }
        leftOut = 0
    }

    private mutating func end(_ each: (String) -> Void) {
        guard !rest.isEmpty else { return }
        let line = String(decoding: rest, as: UTF8.self)
        rest = []
        keep(line)
        guard passed < limit else {
            leftOut += 1
            return
        }
        passed += 1
        each(line)
    }

    private mutating func keep(_ line: String) {
        if isInTrace, line.first?.isNumber == true { return }
        isInTrace = line == "Current stack trace:"
        if !isInTrace { last = last.suffix(Self.keptCount - 1) + [line] }
    }
}

/// Calls read(2), which the method of the same name hides.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
