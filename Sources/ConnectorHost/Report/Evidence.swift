// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
package import ConnectorServices

/// Proof that a gate reaches the outside world, with its time.
public struct Evidence: Sendable, Hashable {
    /// The strength of the proof.
    public var kind: Kind
    /// A description of what was observed.
    public var detail: String
    /// When the proof was made, by the host's clock.
    public var at: Timestamp
    /// How long the proof took.
    public var duration: Duration

    /// The strength of a proof, weakest first.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Comparable {
        /// The configuration was accepted; nothing was sent.
        case configured
        /// The server answered.
        case reachable
        /// The vendor accepted the credentials.
        case authenticated
        /// The vendor acknowledged an application's own event or record.
        case delivered

        /// Compares by strength.
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
    /// The maximum number of proofs in one completion.
    private static let limit = 16
    /// The maximum length of a detail, in bytes.
    private static let detailLimit = 500

    private static func kind(_ value: JSONValue, _ redactor: Redactor) -> String {
        redactor.redact(value.serialized(), limit: 100)
    }

    /// Reads the evidence that `open` or `probe` completed with: see `connector/plugin.h`.
    ///
    /// An empty completion proves only that the configuration was accepted.
    ///
    /// - Parameter redactor: Removes secrets.
    /// - Throws: A ``ConnectorError`` of code `misbehaved` if the evidence breaks the header's rules.
    package static func read(
        _ text: [UInt8],
        at time: Timestamp,
        duration: Duration,
        redactor: Redactor
    ) throws(ConnectorError) -> [Evidence] {
        guard !text.isEmpty else {
            return [Evidence(kind: .configured, detail: "", at: time, duration: duration)]
        }
        let value: JSONValue
        do throws(ConnectorError) {
            value = try JSONValue(parsing: text, file: "evidence")
        } catch {
            throw ConnectorError(
                .misbehaved,
                "the plugin's evidence is not JSON",
                cause: redactor.redact(error.description, limit: detailLimit)
            )
        }
        guard let elements = value.array, elements.count <= limit else {
            throw ConnectorError(.misbehaved, "the plugin's evidence must be an array of at most \(limit) objects")
        }
        guard !elements.isEmpty else { return try read([], at: time, duration: duration, redactor: redactor) }
        var evidence: [Evidence] = []
        for element in elements {
            guard let kind = element["kind"]?.string.flatMap(Kind.init(rawValue:)), kind < .delivered else {
                throw ConnectorError(
                    .misbehaved,
                    "the plugin's evidence has the kind \(kind(element["kind"] ?? .null, redactor)); "
                        + "it must be \"configured\", \"reachable\" or \"authenticated\""
                )
            }
            let detail = redactor.redact(element["detail"]?.string ?? "", limit: detailLimit)
            evidence.append(Evidence(kind: kind, detail: detail, at: time, duration: duration))
        }
        return evidence.sorted { $0.kind < $1.kind }
    }
}
