// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import Logging

extension GateServices {
    /// What the services must know of the gate that they serve.
    package struct Context: Sendable {
        /// The gate's path in the tree, such as `analytics/segment`.
        package var path: String
        /// The ids that the plugin's manifest names, required and optional together.
        package var services: [String]
        /// The hosts that requests may go to, as ``EgressList`` reads them.
        package var egress: [String]
        /// The value of a configuration field that the plugin's manifest declares secret; nil for any other name.
        package var secret: @Sendable (_ field: String) -> String?
        /// Takes every secret out of a text.
        package var redact: @Sendable (String) -> String
        /// Where the plugin's log goes, with the gate's path as metadata `connector`.
        package var logger: Logger

        /// A gate without secrets that may reach nothing, unless said otherwise.
        package init(
            path: String,
            services: [String],
            egress: [String] = [],
            secret: @escaping @Sendable (_ field: String) -> String? = { _ in nil },
            redact: @escaping @Sendable (String) -> String = { $0 },
            logger: Logger
        ) {
            self.path = path
            self.services = services
            self.egress = egress
            self.secret = secret
            self.redact = redact
            self.logger = logger
        }
    }
}
