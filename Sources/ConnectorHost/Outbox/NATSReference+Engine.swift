// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import ConnectorServices

#if NATS
    internal import ConnectorOutboxNATS

    extension NATSReference {
        /// Why this program cannot use the servers; nil, since it can.
        static var unsupported: ConnectorError? { nil }

        /// Connects to the servers.
        ///
        /// - Parameters:
        ///   - onTrim: Called when settled events can no longer be deleted, with the reason, and with nil once they can again.
        ///   - onLoss: Called when waiting events of a connector have gone from the servers, with their number.
        func open(
            paths: [String],
            clock: any HostClock,
            redactor: Redactor,
            onTrim: @escaping @Sendable (ConnectorError?) -> Void,
            onLoss: @escaping @Sendable (_ path: String, _ count: Int) -> Void
        ) async throws(ConnectorError) -> any OutboxEngine {
            try await NATSEngine(
                NATSSettings(resolved(hidingIn: redactor)),
                paths: paths,
                now: { clock.wallTime() },
                renewed: { () throws(ConnectorError) in NATSSettings(try resolved(hidingIn: redactor)) },
                redact: redactor.redact,
                onTrim: onTrim,
                onLoss: onLoss
            )
        }

        /// Creates missing streams and consumers, or only consumers.
        func migrate(
            paths: [String],
            changesStreams: Bool,
            redactor: Redactor
        ) async throws(ConnectorError) -> [String] {
            try await NATSEngine.migrate(
                NATSSettings(resolved(hidingIn: redactor)),
                paths: paths,
                changesStreams: changesStreams,
                redact: redactor.redact
            )
        }
    }

    extension NATSSettings {
        /// Converts the options of a file.
        init(_ options: NATSOptions) {
            self.init(
                url: options.url,
                stream: options.stream,
                replicas: options.replicas,
                credentials: options.credentials,
                token: options.token,
                authorities: options.authorities,
                isEncrypted: options.isEncrypted
            )
            (user, password, application) = (options.user, options.password, options.application)
            (certificate, key) = (options.certificate, options.key)
        }
    }
#else
    extension NATSReference {
        /// Why this program cannot use the servers.
        static var unsupported: ConnectorError? { withoutTrait }

        private static let withoutTrait = ConnectorError(
            .storage,
            "the outbox cannot be used: engine is \"nats\", and this program was built without the trait NATS",
            fix: "add \"NATS\" to the traits of the package connector-host in Package.swift and rebuild"
        )

        /// Throws, since this build has no client for NATS.
        func open(
            paths: [String],
            clock: any HostClock,
            redactor: Redactor,
            onTrim: @escaping @Sendable (ConnectorError?) -> Void,
            onLoss: @escaping @Sendable (_ path: String, _ count: Int) -> Void
        ) async throws(ConnectorError) -> any OutboxEngine { throw Self.withoutTrait }

        /// Throws, since this build has no client for NATS.
        func migrate(
            paths: [String],
            changesStreams: Bool,
            redactor: Redactor
        ) async throws(ConnectorError) -> [String] { throw Self.withoutTrait }
    }
#endif
