// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The usual remedy for each kind of failure, for errors that suggest none.
enum Remedy {
    /// The occasion of a failure.
    enum Occasion {
        /// A gate did not open, or no longer proves that it works.
        case opening
        /// A gate did not open within the time for all gates together.
        case cutShort
        /// An operation of a gate.
        case call
    }

    /// One line; nil if no general remedy exists.
    static func usual(for code: ConnectorError.Code, of occasion: Occasion) -> String? {
        switch (code, occasion) {
        case (.unauthorized, .opening), (.unauthorized, .cutShort):
            "check the credentials in the connector's \"config\""
        case (.unauthorized, .call): "check the permissions of the credentials in the connector's \"config\""
        case (.unavailable, _):
            "check that the endpoint is right, and that its server runs and can be reached from here"
        case (.timedOut, .opening): "see why the server is slow, or raise the connector's \"timeout\""
        case (.timedOut, .cutShort): "see why the server is slow, or raise --timeout"
        case (.timedOut, .call): "see why the server is slow, or raise --timeout"
        case (.rateLimited, _): "wait, or ask the vendor for a higher limit"
        case (.denied, _): "add the host to the connector's \"allow.hosts\" if the plugin should reach it"
        case (.protocolViolation, _): "check that the endpoint belongs to this vendor's API"
        case (.misbehaved, _): "upgrade or replace the plugin, and tell its author"
        case (.missing, .opening), (.missing, .cutShort):
            "create it at the vendor, or correct its name in the connector's \"config\""
        case (.missing, .call): "check the names and ids among the arguments"
        case (.conflict, .call): "read it again, and repeat the change on the current version"
        case (.loadFailed, _): "run connector-host inspect on the file"
        default: nil
        }
    }
}
