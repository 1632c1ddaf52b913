// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Synchronization

/// The timers of one connector's calls in the application's metrics system.
///
/// They end with the connector, not with this object: calls in flight outlive a connector that a reload removes, and a
/// host that has closed leaves what it measured to the metrics system.
final class CallTimers: Sendable {
    private let factory: any MetricsFactory
    /// The attributes of every timer.
    private let attributes: [(String, String)]
    /// Nil once the connector is gone.
    private let timers = Mutex<[CoreMetrics.Timer]?>([])

    /// Creates timers on demand; nil if there is no metrics system.
    ///
    /// - Parameter isSimulated: Whether the connector is simulated; each timer is then marked so.
    init?(isSimulated: Bool, _ factory: (any MetricsFactory)?) {
        guard let factory else { return nil }
        self.factory = factory
        attributes = isSimulated ? [(MetricDefinition.simulatedAttribute, "true")] : []
    }

    /// Makes the timer of a series; nil once the connector is gone.
    func make(_ attributes: [(String, String)]) -> CoreMetrics.Timer? {
        guard timers.withLock({ $0 != nil }) else { return nil }
        let name = MetricDefinition.callDuration.name
        // Not under the lock: the metrics system is the application's code.
        let timer = CoreMetrics.Timer(label: name, dimensions: attributes + self.attributes, factory: factory)
        let isWanted = timers.withLock { timers in
            timers?.append(timer)
            return timers != nil
        }
        if !isWanted { timer.destroy() }
        return isWanted ? timer : nil
    }

    /// Removes every timer from the metrics system, and makes no further one.
    func destroy() {
        for timer in timers.withLock({ $0.take() }) ?? [] { timer.destroy() }
    }
}
