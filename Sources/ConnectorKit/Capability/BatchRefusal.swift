// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A vendor's answer to one request of a ``BatchDelivery`` that blames single items, by their places in the request.
///
/// Throw it from the delivery's `send`. The blamed items are answered with their failures; the others continue.
public struct BatchRefusal: Error, Sendable, Hashable {
    /// The failures of the blamed items, by place. A retryable failure asks the host to deliver the item later, and so does one of the
    /// host itself; any other rejects it. With a status that concerns the vendor as a whole, such as `rateLimited` or `unavailable`, the
    /// host delivers nothing until then; with `failed` or `conflict` only that item waits.
    public let failures: [Int: PluginError]
    /// Whether the vendor took the other items. If not, they are sent again at once, without the blamed ones.
    public let tookOthers: Bool

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - failures: The failures by place in the request, as the vendor counts them from 0. Places outside the request
    ///     are dropped.
    ///   - count: The number of items in the request.
    ///   - tookOthers: Whether the vendor took the other items.
    /// - Returns: Nil if no place remains: the vendor refused the request as a whole, so throw that failure instead.
    public init?(_ failures: [Int: PluginError], of count: Int, tookOthers: Bool) {
        self.failures = failures.filter { $0.key >= 0 && $0.key < count }
        self.tookOthers = tookOthers
        guard !self.failures.isEmpty else { return nil }
    }
}
