// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a runner prints, line by line.
struct OutputLines {
    /// Whether the runner has closed its output.
    private(set) var isOver = false
    /// The last lines.
    private(set) var last: [String] = []
    private var rest: [UInt8] = []

    /// The longest line, in bytes; a longer one is split.
    private static let lineLimit = 4096
    /// How many lines are kept.
    private static let keptCount = 5
    /// The most that one read takes, in bytes, so that a runner that prints forever does not hold up its calls.
    private static let readLimit = 256 << 10

    /// Reads what there is.
    mutating func read(_ descriptor: Int32, _ each: (String) -> Void) {
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

    /// Ends the line that has begun.
    mutating func end(_ each: (String) -> Void) {
        guard !rest.isEmpty else { return }
        let line = String(decoding: rest, as: UTF8.self)
        rest = []
        last = last.suffix(Self.keptCount - 1) + [line]
        each(line)
    }
}

/// Calls read(2), which the method of the same name hides.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
