// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How the events of a connector reach the vendor: the word `delivery` of `connectors.json`.
///
/// ```swift
/// if connector.deliveryMode == .direct { … }
/// ```
public struct DeliveryMode: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The word in the file.
    public let rawValue: String

    /// The outbox stores each event, and delivers it until the vendor has it.
    public static let queued = Self("queued")
    /// Each call reaches the vendor at once, and its caller learns how that went; nothing is stored.
    public static let direct = Self("direct")

    /// Reads the word; nil for any other.
    public init?(rawValue: String) {
        guard [Self.queued.rawValue, Self.direct.rawValue].contains(rawValue) else { return nil }
        self.init(rawValue)
    }

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The word in the file.
    public var description: String { rawValue }
}

extension DeliveryPolicy? {
    /// No outbox: calls reach the vendor directly.
    public static var direct: DeliveryPolicy? { nil }

    /// What the policy, or its absence, means.
    public var mode: DeliveryMode { self == nil ? .direct : .queued }
}
