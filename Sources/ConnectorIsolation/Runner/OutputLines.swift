// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a runner prints, line by line. Of a plugin that prints without end, only what ``LineLimit`` admits is passed on.
struct OutputLines {
    /// Whether the runner has closed its output.
    private(set) var isOver = false
    /// The last lines, without the stack traces of Swift's runtime: the line before one says what has happened.
    private(set) var last: [String] = []
    private var rest: [UInt8] = []
    /// Whether a stack trace has begun, and not ended.
    private var isInTrace = false
    /// Which lines are passed on.
    private var limit: LineLimit

    /// The longest line, in bytes; a longer one is split.
    static let lineLimit = 4096
    /// How many lines are kept.
    static let keptCount = 5
    /// The most that one read takes, in bytes, so that a runner that prints forever does not hold up its calls.
    private static let readLimit = 256 << 10

    /// Creates a reader that has read nothing.
    ///
    /// - Parameter limit: Which lines it passes on.
    init(limit: LineLimit = .ofPlugin) { self.limit = limit }

    /// Reads what there is.
    ///
    /// - Parameter now: The monotonic time.
    mutating func read(_ descriptor: Int32, at now: UInt64 = SystemTime.monotonic(), _ each: (String) -> Void) {
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
                if byte == UInt8(ascii: "\n") || rest.count >= Self.lineLimit { end(at: now, each) }
                if byte != UInt8(ascii: "\n") { rest.append(byte) }
            }
        }
    }

    /// Ends the last line.
    ///
    /// - Parameter now: The monotonic time.
    mutating func finish(at now: UInt64 = SystemTime.monotonic(), _ each: (String) -> Void) {
        end(at: now, each)
        report(limit.takeLeftOut(), each)
    }

    /// Says how many lines were left out.
    private func report(_ leftOut: Int, _ each: (String) -> Void) {
        if leftOut > 0 { each("connector-runner: \(leftOut) lines are left out: the limit is \(limit)") }
    }

    private mutating func end(at now: UInt64, _ each: (String) -> Void) {
        guard !rest.isEmpty else { return }
        let line = String(decoding: rest, as: UTF8.self)
        let leftOut = limit.admit(rest.count, at: now)
        rest = []
        keep(line)
        guard let leftOut else { return }
        report(leftOut, each)
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
