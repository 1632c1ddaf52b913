// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// What all gates of a host share.
struct GateEnvironment: Sendable {
    /// What calls share: pending operations, threads, time.
    let calls: CallEnvironment
    /// Turns files into images.
    let loader: PluginLoader
    /// HTTP, timers, events, storage.
    let services: HostServices
    /// Takes secrets out of texts.
    let redactor: SharedRedactor
    /// Where the host itself writes.
    let logger: Logger
    /// Chooses a number between zero and its argument, in nanoseconds: the jitter of retries.
    let jitter: @Sendable (UInt64) -> UInt64
    /// Told after every change of a gate.
    let onChange: @Sendable () -> Void

    /// The time.
    var clock: any HostClock { calls.clock }
}

extension GateEnvironment {
    /// When something that starts now has taken too long.
    func deadline(after duration: Duration) -> UInt64 { calls.deadline(after: duration) }

    /// Reads what `open` or `probe` completed with.
    func evidence(in text: [UInt8], startedAt start: UInt64) -> Result<[Evidence], ConnectorError> {
        let now = clock.now()
        do throws(ConnectorError) {
            var evidence = try Evidence.read(
                text,
                at: clock.wallTime(),
                duration: .nanoseconds(Int64(clamping: now - min(start, now)))
            )
            for index in evidence.indices { evidence[index].detail = redactor.redact(evidence[index].detail) }
            return .success(evidence)
        } catch {
            return .failure(error)
        }
    }
}
