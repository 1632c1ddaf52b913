// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Recording attempts.
extension Delivery {
    /// Records an attempt, and retries until it succeeds: an event that the vendor has must not be sent again because the disk was full.
    ///
    /// - Parameter expediteCount: How often an operator had wanted all retries at once when the attempt began; nil if it begins now.
    func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt,
        since expediteCount: Int? = nil
    ) async throws(ConnectorError) {
        let expediteCount = expediteCount ?? self.expediteCount
        var progress = Progress(count: 1)
        while true {
            do throws(ConnectorError) {
                beginRecording(batch)
                defer { endRecording() }
                let step = try await dependencies.engine.settle(batch, outcomes, attempt)
                if progress.failures > 0 { dependencies.onPause(nil) }
                // An operator who asks for an immediate attempt means one at the vendor, not just another try at recording, and includes
                // the events that this attempt set to retry on their own.
                if self.expediteCount != expediteCount {
                    try? await dependencies.engine.expediteRetries(of: path, now: dependencies.clock.wallTime())
                    wake()
                }
                return dependencies.onSettled(batch, outcomes, attempt.failures, step)
            } catch {
                guard !isStopping else { throw error }
                await wait(until: pause(&progress, DeliveryFailure(of: error)))
                beginLook()
            }
        }
    }
}
