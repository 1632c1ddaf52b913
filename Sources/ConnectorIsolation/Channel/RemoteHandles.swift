// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import Synchronization

/// The handles of an instance in a runner, which has their table: here they are the runner's numbers, in a range for each instance.
struct RemoteHandles: HandleNumbering {
    private static let lastRange = Atomic<Int64>(0)
    private static let mask: Int64 = 0xFFFF_FFFF

    /// From 1 to 2²⁰ - 1, and from 1 again after a million instances: below 2⁵² in all, so that any JSON reader keeps the numbers, and
    /// never 0, which is the range of handles in this process.
    private let start = (Self.lastRange.wrappingAdd(1, ordering: .relaxed).oldValue % 0xF_FFFF + 1) << 32

    /// - Parameter other: The runner's number; another one means nothing.
    func number(_ other: UInt) -> Int64 { other <= UInt(Self.mask) ? start | Int64(other) : 0 }

    func address(_ number: Int64) -> UInt? {
        number & ~Self.mask == start && number != start ? UInt(number & Self.mask) : nil
    }
}
