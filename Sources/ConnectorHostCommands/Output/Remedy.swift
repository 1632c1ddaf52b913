// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The usual remedy for each kind of failure, for errors that suggest no fix.
enum Remedy {
    /// The context of a failure.
    enum Occasion {
        /// A gate did not open, or has failed since.
        case opening
        /// A gate did not open before the timeout for all gates.
        case cutShort
        /// An operation of a gate failed.
        case call
        /// A plugin did not open where it has no connector, no vendor and no configuration.
        case probing
    }

    /// The remedy for what a plugin in a runner does not find, may not use, or does not reach when it opens: unlike in the host, the
    /// sandbox may be the reason. Nil for any other failure.
    static func inRunner(for code: ConnectorError.Code) -> String? {
        switch code {
        case .missing:
            """
            create it at the vendor, or correct its name in the connector's "config"; if it is a file or a directory of this machine, name \
            it in the connector's "sandbox"
            """
        case .denied: deniedBySandbox
        case .unavailable:
            """
            check that the endpoint is correct, and that its server runs and is reachable from here; if the plugin opens sockets of its \
            own, it needs "network" in the connector's "sandbox": connector-host status --learn
            """
        default: nil
        }
    }

    /// The remedy for what a plugin may not use, if it is not the host that says so: the host's refusals have their own.
    private static let deniedBySandbox = """
        if the plugin is in a runner, and its sandbox denies a file or a directory of this machine, name it in the connector's "sandbox"
        """

    /// The usual remedy, in one line; nil if there is none.
    static func usual(for code: ConnectorError.Code, of occasion: Occasion) -> String? {
        switch (code, occasion) {
        case (.misbehaved, _), (.crashed, _): "upgrade or replace the plugin, and tell its author"
        case (_, .probing): nil
        case (.unauthorized, .opening), (.unauthorized, .cutShort):
            "check the credentials in the connector's \"config\""
        case (.unauthorized, .call): "check the permissions of the credentials in the connector's \"config\""
        case (.unavailable, _):
            "check that the endpoint is correct, and that its server runs and is reachable from here"
        case (.timedOut, .opening): "find out why the server is slow, or increase the connector's \"timeout\""
        case (.timedOut, .cutShort): "find out why the server is slow, or increase --timeout"
        case (.timedOut, .call): "find out why the server is slow, or increase --timeout"
        case (.rateLimited, _): "wait, or ask the vendor for a higher limit"
        case (.denied, .call): deniedBySandbox
        case (.protocolViolation, _): "check that the endpoint belongs to this vendor's API"
        case (.missing, .opening), (.missing, .cutShort):
            "create it at the vendor, or correct its name in the connector's \"config\""
        case (.missing, .call): "check the names and ids among the arguments"
        case (.conflict, .call): "read it again, and repeat the change on the current version"
        case (.loadFailed, _): "run connector-host inspect on the file"
        default: nil
        }
    }
}
