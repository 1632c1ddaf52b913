// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import CoreMetrics

/// The dependencies of measuring: the clock, and the application's metrics system.
struct Metering: Sendable {
    /// Measures durations.
    let clock: any HostClock
    /// Nil unless the application bootstrapped a metrics system before creating the host.
    let factory: (any MetricsFactory)?

    /// Captures the metrics system the application has bootstrapped.
    init(clock: any HostClock) {
        self.clock = clock
        let factory = MetricsSystem.factory
        self.factory = factory is NOOPMetricsHandler ? nil : factory
    }
}
