// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

/// Operations whose manifest says `"prompt": true`: they return without waiting, so they run on their caller's thread.
extension PluginInstance {
    /// The longest that a prompt function may take, in nanoseconds.
    private static let promptLimit: UInt64 = 1_000_000

    /// An operation that runs on its caller's thread and answers there; nil for any other.
    package func promptOperation(named name: String) -> ResolvedOperation? {
        guard let operation = try? operation(named: name), operation.isPrompt, operation.answersAtOnce else {
            return nil
        }
        return operation
    }

    /// Reports a prompt function that took too long, and runs it on threads of the host from now on.
    package func judge(_ operation: ResolvedOperation, took nanoseconds: UInt64) {
        guard nanoseconds > Self.promptLimit, operation.becomesSlow() else { return }
        let span = Duration.nanoseconds(Int64(clamping: nanoseconds)).brief
        context.misbehaved(
            "\(operation.operation.name) (\(operation.operation.symbol)) took \(span), though the manifest calls it prompt; "
                + "it runs on a thread of the host from now on"
        )
    }
}
