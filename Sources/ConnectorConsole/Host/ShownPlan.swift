// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost

/// What a reload would change at a given moment.
package struct ShownPlan: Sendable {
    /// The plan, or all faults of the file.
    package var result: Result<Plan, ConfigurationErrors>
    /// When it was made.
    package var madeAt: Timestamp

    /// Creates a value.
    package init(_ result: Result<Plan, ConfigurationErrors>, at time: Timestamp) {
        (self.result, madeAt) = (result, time)
    }
}
