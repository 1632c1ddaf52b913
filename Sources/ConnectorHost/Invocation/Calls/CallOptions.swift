// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// How one call behaves.
public struct CallOptions: Sendable {
    /// After this the call fails with `timed-out`, and the plugin is told to stop.
    public var timeout: Duration
    /// Told how far an asynchronous operation is, on a thread of the plugin.
    public var onProgress: (@Sendable (JSONValue) -> Void)?

    /// Thirty seconds, and nobody asks how far it is.
    public init(timeout: Duration = .seconds(30), onProgress: (@Sendable (JSONValue) -> Void)? = nil) {
        self.timeout = timeout
        self.onProgress = onProgress
    }
}
