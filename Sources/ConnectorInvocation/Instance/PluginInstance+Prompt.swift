// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

/// Operations with `"prompt": true` in their manifest: they return without waiting, so they run on their caller's thread.
extension PluginInstance {
    /// The maximum duration of a prompt function, in nanoseconds.
    private static let promptLimit: UInt64 = 1_000_000

    /// An operation that runs to completion on its caller's thread; nil for any other. It lives as long as the instance.
    package func promptOperation(named name: String) -> Unmanaged<ResolvedOperation>? {
        unsafe resolved.prompt(named: name)
    }

    /// Reports a prompt function that took too long, and makes it run on threads of the host from now on.
    package func judge(_ operation: ResolvedOperation, took nanoseconds: UInt64) {
        guard nanoseconds > Self.promptLimit, operation.becomesSlow() else { return }
        let span = Duration.nanoseconds(Int64(clamping: nanoseconds)).brief
        context.misbehaved(
            "\(operation.operation.name) (\(operation.operation.symbol)) took \(span), but the manifest declares it prompt; "
                + "from now on, it runs on a thread of the host"
        )
    }
}
