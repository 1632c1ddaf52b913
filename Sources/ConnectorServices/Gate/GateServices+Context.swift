// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import Logging

extension GateServices {
    /// The properties of the gate that the services serve.
    package struct Context: Sendable {
        /// The gate's path in the tree, such as `analytics/segment`.
        package var path: String
        /// The service ids in the plugin's manifest, required and optional together.
        package var services: [String]
        /// The hosts that requests may reach, in the form of ``EgressList``.
        package var egress: [String]
        /// The value of a configuration field that the manifest declares secret; nil for any other name.
        package var secret: @Sendable (_ field: String) -> String?
        /// Removes secrets from every text of the plugin.
        package var redactor: Redactor
        /// The gates that the plugin uses; nil if the manifest names none.
        package var gates: UsedGates?
        /// Whether requests carry their trace context in headers.
        package var propagatesTrace: Bool
        /// The most bytes of responses that the host keeps to use again; 0 for none.
        package var cacheBytes: Int
        /// Where the gate is recorded; nil if it is not.
        package var recording: RecordingTarget?
        /// What answers in place of the vendor; nil if nothing does.
        package var vendor: SimulatedVendor?
        /// Runs on the plugin's thread, before each function of a table; for the conformance suite. Nil in a host.
        package var onUse: (@Sendable () -> Void)?
        /// The logger of the plugin's log, with the gate's path as metadata `connector`.
        package var logger: Logger

        /// Creates the context of a gate; by default, without secrets and without reachable hosts.
        package init(
            path: String,
            services: [String],
            egress: [String] = [],
            secret: @escaping @Sendable (_ field: String) -> String? = { _ in nil },
            redactor: Redactor = Redactor(),
            gates: UsedGates? = nil,
            propagatesTrace: Bool = false,
            cacheBytes: Int = 0,
            recording: RecordingTarget? = nil,
            vendor: SimulatedVendor? = nil,
            onUse: (@Sendable () -> Void)? = nil,
            logger: Logger
        ) {
            self.path = path
            self.services = services
            self.egress = egress
            self.secret = secret
            self.redactor = redactor
            self.gates = gates
            self.propagatesTrace = propagatesTrace
            self.cacheBytes = cacheBytes
            self.recording = recording
            self.vendor = vendor
            self.onUse = onUse
            self.logger = logger
        }
    }
}
