// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The usual remedy for each kind of failure, for errors that suggest no fix.
enum Remedy {
    /// The context of a failure.
    enum Occasion {
        /// A gate did not open, or has failed since.
        case opening
        /// The events of a connector's outbox are not delivered.
        case delivery
        /// A gate did not open before the timeout for all gates.
        case cutShort
        /// An operation of a gate failed.
        case call
        /// A plugin did not open where it has no connector, no vendor and no configuration.
        case probing
    }

    /// The remedy for what a plugin in a runner does not find, may not use, or does not reach: unlike in the host, the sandbox may be the
    /// reason. Nil for any other failure, for a vendor's refusal, which has an HTTP status, and for what the host itself refuses.
    ///
    /// - Parameter isLocal: Whether the plugin reaches no server.
    static func inRunner(for error: ConnectorError, of occasion: Occasion, isLocal: Bool) -> String? {
        guard !error.isRefusalByVendor, !error.isRefusalByHost, !(isLocal && error.code == .unavailable) else {
            return nil
        }
        return switch (error.code, occasion) {
        case (.denied, _):
            "if the sandbox denies a file or a directory of this machine, name it in the connector's \"sandbox\""
        case (_, .call): nil
        case (.missing, _):
            """
            create it\(isLocal ? "" : " at the vendor"), or correct its name in the connector's "config"; if it is a file or a directory \
            of this machine, name it in the connector's "sandbox"
            """
        case (.unavailable, _):
            """
            check that the endpoint is correct, and that its server runs and is reachable from here; if the plugin opens sockets of its \
            own, it needs "network" in the connector's "sandbox": connector-host status --learn
            """
        default: nil
        }
    }

    /// The error of a call, with the remedy for a plugin in a runner if it has no other, and its connector is in one.
    ///
    /// - Parameter report: The report of the host that made the call; nil if unknown.
    static func completing(_ error: ConnectorError, from report: Report?) -> ConnectorError {
        guard error.fix == nil, let path = error.connector, report?[path]?.isolation == .process else { return error }
        var error = error
        error.fix = inRunner(for: error, of: .call, isLocal: isLocal(error, in: report))
        return error
    }

    /// Whether the connector of an error has a plugin that reaches no server; false if that is not known.
    static func isLocal(_ error: ConnectorError, in report: Report?) -> Bool {
        error.connector.flatMap { report?[$0]?.plugin?.isLocal } ?? false
    }

    /// Whether the remedy of an error depends on the report.
    static func dependsOnReport(_ error: ConnectorError) -> Bool {
        error.code == .denied || error.code != .timedOut && ofServers.contains(error.code)
    }

    /// The failures that are usually a server's.
    private static let ofServers: Set<ConnectorError.Code> = [
        .unavailable, .timedOut, .protocolViolation, .unauthorized, .missing,
    ]

    /// The usual remedy, in one line; nil if there is none.
    ///
    /// - Parameter isLocal: Whether the plugin reaches no server, so that none is to blame.
    static func usual(for error: ConnectorError, of occasion: Occasion, isLocal: Bool) -> String? {
        if isLocal, ofServers.contains(error.code) { return onThisMachine(for: error.code, of: occasion) }
        guard error.isRefusalByVendor else { return usual(for: error.code, of: occasion) }
        return switch error.code {
        case .denied: "check the permissions of the credentials in the connector's \"config\""
        // The server can be reached, and its own words say what it lacks.
        case .unavailable: nil
        default: usual(for: error.code, of: occasion)
        }
    }

    private static func onThisMachine(for code: ConnectorError.Code, of occasion: Occasion) -> String? {
        switch (code, occasion) {
        case (.timedOut, .opening): "increase the connector's \"timeout\""
        case (.timedOut, .delivery):
            "let fewer events go together: \"count\" of \"batch\" in the connector's \"outbox\""
        case (.timedOut, .cutShort), (.timedOut, .call): "increase --timeout"
        case (.missing, .call): "check the names and ids among the arguments"
        case (.missing, _): "create it, or correct its name in the connector's \"config\""
        default: nil
        }
    }

    private static func usual(for code: ConnectorError.Code, of occasion: Occasion) -> String? {
        switch (code, occasion) {
        case (.misbehaved, _), (.crashed, _): "upgrade or replace the plugin, and tell its author"
        case (_, .probing): nil
        case (.unauthorized, .opening), (.unauthorized, .delivery), (.unauthorized, .cutShort):
            "check the credentials in the connector's \"config\""
        case (.unauthorized, .call): "check the credentials in the connector's \"config\", and their permissions"
        case (.unavailable, _):
            "check that the endpoint is correct, and that its server runs and is reachable from here"
        case (.timedOut, .opening): "find out why the server is slow, or increase the connector's \"timeout\""
        case (.timedOut, .delivery):
            "find out why the server is slow, or let fewer events go together: \"count\" of \"batch\" in the connector's \"outbox\""
        case (.timedOut, .cutShort): "find out why the server is slow, or increase --timeout"
        case (.timedOut, .call): "find out why the server is slow, or increase --timeout"
        case (.rateLimited, _): "wait, or ask the vendor for a higher limit"
        case (.protocolViolation, _): "check that the endpoint belongs to this vendor's API"
        case (.missing, .opening), (.missing, .delivery), (.missing, .cutShort):
            "create it at the vendor, or correct its name in the connector's \"config\""
        case (.missing, .call): "check the names and ids among the arguments"
        case (.conflict, .call): "read it again, and repeat the change on the current version"
        case (.loadFailed, _): "run connector-host inspect on the file"
        default: nil
        }
    }
}

extension ConnectorError {
    /// Whether a vendor refused the request: the cause is then its HTTP status, such as `s3 403`.
    fileprivate var isRefusalByVendor: Bool {
        let words = cause?.split(separator: " ") ?? []
        return words.count == 2 && Int(words[1]).map { (400..<500).contains($0) } ?? false
    }

    /// Whether a service of the host refused the request, such as one to a server that the connector does not name. The cause is then the
    /// failure's domain, since what a runner or an API passes on is no more than the texts.
    fileprivate var isRefusalByHost: Bool { isServiceRefusal || cause == "host" }
}
