// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Random identifiers that sort by their time of creation.
package enum RandomIdentifier {
    /// A UUID (RFC 9562, version 7) in lower case with hyphens: 48 bits of milliseconds, and 74 random bits.
    ///
    /// Fetches random bytes from the system for many identifiers at once.
    package static func uuid() -> String {
        let milliseconds = Timestamp.now.nanoseconds / 1_000_000
        let (first, second) = pool.withLock { $0.next() }
        let high = milliseconds << 16 | 0x7000 | first & 0x0FFF
        let low = second & ~(3 << 62) | 2 << 62
        return text(high, low)
    }

    private static let pool = Mutex(Pool())

    /// Random numbers fetched in one system call.
    private struct Pool: Sendable {
        private var numbers: [UInt64] = []

        mutating func next() -> (UInt64, UInt64) {
            if numbers.count < 2 {
                // 256 bytes is the most that one call returns.
                numbers = unsafe Array(unsafeUninitializedCapacity: 32) { target, count in
                    guard unsafe getentropy(target.baseAddress, 256) == 0 else { return }
                    count = 32
                }
                var generator = SystemRandomNumberGenerator()
                while numbers.count < 2 { numbers.append(generator.next()) }
            }
            return (numbers.removeLast(), numbers.removeLast())
        }
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        unsafe String(unsafeUninitializedCapacity: 36) { target in
            var index = 0
            for (number, shifts) in [(high, 15), (low, 15)] {
                for place in 0...shifts {
                    if index == 8 || index == 13 || index == 18 || index == 23 {
                        unsafe target[index] = UInt8(ascii: "-")
                        index += 1
                    }
                    let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * (15 - place))) & 0xF
                    unsafe target[index] = UInt8(hexDigit: digit)
                    index += 1
                }
            }
            return index
        }
    }
}
