// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What messages in a lane contain besides words.
extension LaneStream {
    /// Writes the count of bytes, and the bytes; nil for none.
    package mutating func put(optional bytes: UnsafeRawBufferPointer?) {
        guard let bytes = unsafe bytes else { return put(0) }
        put(UInt64(bytes.count) + 1)
        unsafe put(bytes)
    }

    /// The count of bytes that follow a word; nil for none. One that is greater than the rest of the message stops the stream.
    package mutating func optionalCount(_ word: UInt64) -> Int? {
        guard word > 0 else { return nil }
        guard word - 1 <= UInt64(rest) else {
            fail()
            return nil
        }
        return Int(word - 1)
    }

    /// The count of bytes that follow a word; none stops the stream.
    package mutating func count(_ word: UInt64) -> Int {
        if let count = optionalCount(word) { return count }
        fail()
        return 0
    }

    /// Writes an error, as a message of its own.
    package mutating func send(_ error: ConnectorError) {
        var message = MessageWriter()
        error.put(to: &message)
        begin(count: 8 + message.bytes.count)
        put(LaneAnswer.failed.rawValue)
        unsafe message.bytes.withUnsafeBytes { unsafe put($0) }
        send()
    }

    /// Takes the error that is the rest of the message; nil, and the stream stops, if it is malformed.
    mutating func error() -> ConnectorError? {
        // Checked before memory is allocated for bytes that have not arrived.
        guard rest <= ConnectorError.messageLimit else {
            fail()
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: rest)
        unsafe bytes.withUnsafeMutableBytes { unsafe take(into: $0) }
        guard stop == nil else { return nil }
        var message = MessageReader(bytes)
        guard let error = try? ConnectorError(&message) else {
            fail()
            return nil
        }
        return error
    }

    /// Skips bytes.
    mutating func skip(_ count: Int) {
        var bytes = [UInt8](repeating: 0, count: min(count, 4096))
        var left = count
        while left > 0, stop == nil {
            let size = min(left, bytes.count)
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe take(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<size]))
            }
            left -= size
        }
    }
}
