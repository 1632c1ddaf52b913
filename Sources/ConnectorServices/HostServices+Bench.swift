// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

/// For whoever drives a plugin without a host: the conformance suite.
extension HostServices {
    /// Starts nothing.
    package convenience init(serving options: Options) {
        self.init(options: options)
    }

    /// Runs a function of a plugin on a thread that it may hold for ever.
    package func run(_ job: @escaping @Sendable () -> Void) {
        callbacks.run(job)
    }
}
