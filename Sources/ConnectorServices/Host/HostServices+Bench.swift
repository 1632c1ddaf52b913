// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

/// Services for the conformance suite, which drives a plugin without a host.
extension HostServices {
    /// Creates the services without starting any.
    package convenience init(serving options: Options) {
        self.init(options: options)
    }

    /// Runs a plugin's function on a thread that it may hold forever.
    package func run(_ job: @escaping @Sendable () -> Void) {
        callbacks.run(job)
    }
}
