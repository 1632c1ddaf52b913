// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import Synchronization

/// The handles of an instance in a runner, which keeps their table: here they are the runner's numbers, each instance's in a range of
/// its own.
struct RemoteHandles: HandleNumbering {
    private static let lastRange = Atomic<Int64>(0)
    private static let mask: Int64 = 0xFFFF_FFFF

    /// Ranges run from 1 to 2²⁰ - 1, and start again after a million instances. So all handles are below 2⁵², where any JSON reader
    /// keeps numbers exact; range 0 is that of handles in this process.
    private let start = (Self.lastRange.wrappingAdd(1, ordering: .relaxed).oldValue % 0xF_FFFF + 1) << 32

    /// - Parameter other: The runner's number. One that is out of range becomes 0, which means nothing.
    func number(_ other: UInt) -> Int64 { other <= UInt(Self.mask) ? start | Int64(other) : 0 }

    func address(_ number: Int64) -> UInt? {
        number & ~Self.mask == start && number != start ? UInt(number & Self.mask) : nil
    }
}
