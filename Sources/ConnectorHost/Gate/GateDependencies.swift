// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// Services shared by all gates of a host.
struct GateDependencies: Sendable {
    /// Pending operations, threads and time, shared by calls.
    let calls: CallDependencies
    /// Loads images.
    let loader: PluginLoader
    /// The processes of isolated plugins.
    let runners: RunnerPool
    /// Where plugins with `"isolation": "auto"` run.
    let promotions: Promotions
    /// HTTP, timers, events, storage.
    let services: HostServices
    /// Removes secrets from all text of plugins and vendors.
    let redactor: Redactor
    /// The host's own logger.
    let logger: Logger
    /// Whether failed gates are retried.
    let heals: Bool
    /// Whether, whatever the configuration says, plugins run in runners that refuse nothing and learn what a sandbox
    /// would have refused.
    let learnsSandbox: Bool
    /// Draws a random wait between zero and its argument, in nanoseconds.
    let jitter: @Sendable (UInt64) -> UInt64
    /// Called after every change of a gate.
    let onChange: @Sendable () -> Void
    /// Tells the host which gates have gone back to earlier instances, and why.
    let rollbacks = Rollbacks()
    /// Calls the connectors that plugins use.
    let uses = UsedConnectors()
    /// The live generations.
    let generations = LiveGenerations()

    /// The host's clock.
    var clock: any HostClock { calls.clock }
}

extension GateDependencies {
    /// The deadline of work that starts now and may take `duration`.
    func deadline(after duration: Duration) -> UInt64 { calls.deadline(after: duration) }

    /// Reads the evidence with which `open` or `probe` completed.
    ///
    /// - Parameter isForeign: Whether the host completes on behalf of a foreign library, which supplies no evidence.
    func evidence(
        in text: [UInt8],
        of phase: InstancePhase,
        isForeign: Bool,
        startedAt start: UInt64
    ) -> Result<[Evidence], ConnectorError> {
        guard isForeign || !text.isEmpty else {
            return .failure(
                ConnectorError(
                    .misbehaved,
                    "the plugin completed \(phase.rawValue) without evidence",
                    fix: "fix the plugin: complete \(phase.rawValue) with what it proved, "
                        + #"such as [{"kind": "configured"}] if nothing was sent"#
                )
            )
        }
        let now = clock.now()
        do throws(ConnectorError) {
            return .success(
                try Evidence.read(
                    text,
                    at: clock.wallTime(),
                    duration: .nanoseconds(Int64(clamping: now - min(start, now))),
                    redactor: redactor
                )
            )
        } catch {
            return .failure(error)
        }
    }
}
