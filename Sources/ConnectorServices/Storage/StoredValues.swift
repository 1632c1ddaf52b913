// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
import CZlib
package import ConnectorInvocation

/// The stored values of one gate, with their limits and their file format.
///
/// The format, with all numbers little-endian: the line `connector-storage 1`; then for each key, in the order of the
/// keys' bytes, its length (2 bytes), the length of its value (4 bytes), key and value; at the end the CRC-32 (RFC
/// 1952) of everything before.
package struct StoredValues: Sendable, Hashable {
    /// Values by the bytes of their key.
    private(set) var values: [[UInt8]: [UInt8]] = [:]
    /// The total size of all keys and values, in bytes.
    private(set) var size = 0

    /// The value of a key.
    package subscript(key: [UInt8]) -> [UInt8]? { values[key] }

    /// Sets a value. Throws `tooLarge` beyond the limits, and changes nothing then.
    package mutating func set(_ key: [UInt8], to value: [UInt8]) throws(ServiceFailure) {
        guard value.count <= Int(CONNECTOR_STORAGE_VALUE_LIMIT) else {
            throw .tooLarge("the value has more than \(CONNECTOR_STORAGE_VALUE_LIMIT) bytes")
        }
        let old = values[key].map { key.count + $0.count } ?? 0
        let newSize = size - old + key.count + value.count
        guard newSize <= Int(CONNECTOR_STORAGE_TOTAL_LIMIT) else {
            throw .tooLarge("the connector would store more than \(CONNECTOR_STORAGE_TOTAL_LIMIT) bytes in total")
        }
        values[key] = value
        size = newSize
    }

    /// Removes a value and returns it.
    package mutating func remove(_ key: [UInt8]) -> [UInt8]? {
        guard let value = values.removeValue(forKey: key) else { return nil }
        size -= key.count + value.count
        return value
    }

    /// The keys that start with a prefix, in the order of their bytes.
    package func keys(startingWith prefix: [UInt8]) -> [[UInt8]] {
        values.keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension StoredValues {
    /// Why a file cannot be read.
    package enum Fault: Error {
        /// The content was damaged.
        case corrupt
        /// A later version of the host wrote it.
        case newer
    }

    private static let name = Array("connector-storage ".utf8)
    private static let version = Array("1\n".utf8)

    /// The values in the file format.
    package var encoded: [UInt8] { encoded(version: "1\n") }

    /// The values in the file format, under a given version line.
    package func encoded(version: String) -> [UInt8] {
        var bytes = Self.name + version.utf8
        for key in keys(startingWith: []) {
            let value = values[key] ?? []
            bytes.append(UInt64(key.count), bytes: 2)
            bytes.append(UInt64(value.count), bytes: 4)
            bytes += key
            bytes += value
        }
        bytes.append(UInt64(Self.checksum(bytes)), bytes: 4)
        return bytes
    }

    /// Reads the file format.
    package init(decoding bytes: [UInt8]) throws(Fault) {
        let start = Self.name.count + Self.version.count
        guard bytes.count >= start + 4, bytes.starts(with: Self.name) else { throw .corrupt }
        let end = bytes.count - 4
        guard bytes.number(at: end, bytes: 4) == UInt64(Self.checksum(Array(bytes[..<end]))) else { throw .corrupt }
        guard bytes[Self.name.count..<start].elementsEqual(Self.version) else { throw .newer }
        var index = start
        while index < end {
            guard end - index >= 6 else { throw .corrupt }
            let keyEnd = index + 6 + Int(bytes.number(at: index, bytes: 2))
            let valueEnd = keyEnd + Int(bytes.number(at: index + 2, bytes: 4))
            guard valueEnd <= end else { throw .corrupt }
            do { try set(Array(bytes[index + 6..<keyEnd]), to: Array(bytes[keyEnd..<valueEnd])) } catch {
                throw .corrupt
            }
            index = valueEnd
        }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt {
        unsafe bytes.withUnsafeBufferPointer { unsafe crc32(0, $0.baseAddress, UInt32(clamping: $0.count)) }
    }
}

extension [UInt8] {
    /// Appends a number, little-endian.
    fileprivate mutating func append(_ number: UInt64, bytes count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }

    /// Reads a number, little-endian. The caller has checked the bounds.
    fileprivate func number(at start: Int, bytes count: Int) -> UInt64 {
        self[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
