// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices

#if NATS
    internal import ConnectorOutboxNATS
#endif

extension NATSReference {
    /// Why this program cannot use the servers; nil if it can.
    static var unsupported: ConnectorError? {
        #if NATS
            nil
        #else
            withoutTrait
        #endif
    }

    #if !NATS
        private static let withoutTrait = ConnectorError(
            .storage,
            "the outbox cannot be used: engine is \"nats\", and this program was built without the trait NATS",
            fix: "add \"NATS\" to the traits of the package connector-host in Package.swift and rebuild"
        )
    #endif

    /// Connects to the servers.
    ///
    /// - Parameters:
    ///   - onTrim: Called when settled events can no longer be deleted, with the reason, and with nil once they can again.
    ///   - onLoss: Called when waiting events of a connector have gone from the servers, with their number.
    /// - Throws: ``unsupported``, if there is such an error.
    func open(
        paths: [String],
        clock: any HostClock,
        redactor: Redactor,
        onTrim: @escaping @Sendable (ConnectorError?) -> Void,
        onLoss: @escaping @Sendable (_ path: String, _ count: Int) -> Void
    ) async throws(ConnectorError) -> any OutboxEngine {
        #if NATS
            try await NATSEngine(
                resolved(hidingIn: redactor),
                paths: paths,
                now: { clock.wallTime() },
                renewed: { () throws(ConnectorError) in try resolved(hidingIn: redactor) },
                redact: redactor.redact,
                onTrim: onTrim,
                onLoss: onLoss
            )
        #else
            throw Self.withoutTrait
        #endif
    }

    /// Creates missing streams and consumers, or only consumers.
    ///
    /// - Throws: ``unsupported``, if there is such an error.
    func migrate(
        paths: [String],
        changesStreams: Bool,
        redactor: Redactor
    ) async throws(ConnectorError) -> [String] {
        #if NATS
            try await NATSEngine.migrate(
                resolved(hidingIn: redactor),
                paths: paths,
                changesStreams: changesStreams,
                redact: redactor.redact
            )
        #else
            throw Self.withoutTrait
        #endif
    }
}
