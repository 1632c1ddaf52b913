// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Whether and how long to connect.
extension NATSSettings {
    /// Whether connections must be encrypted: the client library itself pays no attention to `tls://`.
    var usesTLS: Bool {
        isEncrypted || authorities != nil || certificate != nil
            || url.split(separator: ",").contains { server in
                server.drop(while: \.isWhitespace).prefix(6).lowercased() == "tls://"
            }
    }

    /// The longest time that connecting may rightly take, in nanoseconds: the library tries one server after the other.
    var connectingLimit: UInt64 {
        url.split(separator: ",").reduce(waits.excess) { limit, _ in limit.saturatingAdding(waits.connection) }
    }
}

extension NATSSettings.Waits {
    /// ``connection`` for people.
    var connectionText: String { Duration.nanoseconds(Int64(clamping: connection)).brief }
}
