// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// What a gate proved about the outside world, and when.
public struct Evidence: Sendable, Hashable {
    /// How much it proves.
    public var kind: Kind
    /// What was seen, for people.
    public var detail: String
    /// When, by the host's clock.
    public var at: Timestamp
    /// How long the proof took.
    public var duration: Duration

    /// How much a proof proves; a later one is worth more.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Comparable {
        /// The configuration was accepted; nothing was sent.
        case configured
        /// The server answered.
        case reachable
        /// The vendor accepted the credentials.
        case authenticated
        /// The vendor acknowledged an application's own event or record.
        case delivered

        /// In the order of their declaration.
        public static func < (left: Kind, right: Kind) -> Bool { left.strength < right.strength }

        private var strength: Int {
            switch self {
            case .configured: 0
            case .reachable: 1
            case .authenticated: 2
            case .delivered: 3
            }
        }
    }
}

extension Evidence {
    /// The most proofs that one completion may carry.
    private static let limit = 16

    /// Reads what `open` or `probe` completed with: see `connector/plugin.h`.
    ///
    /// Whoever completes with nothing claims no more than that the configuration was accepted.
    ///
    /// - Throws: A ``ConnectorError`` of code `misbehaved` if it is anything else than the header says.
    package static func read(
        _ text: [UInt8],
        at time: Timestamp,
        duration: Duration
    ) throws(ConnectorError) -> [Evidence] {
        guard !text.isEmpty else {
            return [Evidence(kind: .configured, detail: "", at: time, duration: duration)]
        }
        let value: JSONValue
        do throws(ConnectorError) {
            value = try JSONValue(parsing: text, file: "evidence")
        } catch {
            throw ConnectorError(.misbehaved, "the plugin's evidence is not JSON", cause: error.description)
        }
        guard let elements = value.array, elements.count <= limit else {
            throw ConnectorError(.misbehaved, "the plugin's evidence must be an array of at most \(limit) objects")
        }
        guard !elements.isEmpty else { return try read([], at: time, duration: duration) }
        var evidence: [Evidence] = []
        for element in elements {
            guard let kind = element["kind"]?.string.flatMap(Kind.init(rawValue:)), kind < .delivered else {
                throw ConnectorError(
                    .misbehaved,
                    "the plugin's evidence has the kind \(element["kind"] ?? .null); "
                        + "it must be \"configured\", \"reachable\" or \"authenticated\""
                )
            }
            let detail = element["detail"]?.string ?? ""
            evidence.append(Evidence(kind: kind, detail: String(detail.prefix(500)), at: time, duration: duration))
        }
        return evidence.sorted { $0.kind < $1.kind }
    }
}
