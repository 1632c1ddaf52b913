// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What usually helps against a kind of failure, for errors that say nothing better themselves.
enum Remedy {
    /// One line; nil where nothing can be said without knowing more.
    static func usual(for code: ConnectorError.Code) -> String? {
        switch code {
        case .unauthorized: "check the credentials in the connector's \"config\""
        case .unavailable: "check that the endpoint is right, and that its server runs and can be reached from here"
        case .timedOut: "see why the server is slow, or raise the connector's \"timeout\""
        case .rateLimited: "wait, or ask the vendor for a higher limit"
        case .denied: "add the host to the connector's \"allow.hosts\" if it is meant to go there"
        case .protocolViolation: "check that the endpoint belongs to this vendor's API"
        case .misbehaved: "upgrade or replace the plugin, and tell its author"
        case .missing: "create it at the vendor, or correct its name in the connector's \"config\""
        case .loadFailed: "run connector-host inspect on the file"
        default: nil
        }
    }
}
