// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

extension AnalyticsEvent {
    /// The properties, with the name and the category of a page or screen as further ones unless there are such
    /// properties, for vendors whose events have nothing else.
    package var namedProperties: JSONObject {
        var properties = properties
        for (member, text) in [("name", name), ("category", category)] where properties[member] == nil {
            properties.set(member, text)
        }
        return properties
    }

    /// The event's time in milliseconds since 1970; that of the delivery if it has none.
    package func milliseconds(now: Timestamp) -> Int64 {
        Int64(clamping: (timestamp ?? now).nanoseconds / 1_000_000)
    }
}
