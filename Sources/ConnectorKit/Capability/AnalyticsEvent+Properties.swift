// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

extension AnalyticsEvent {
    /// The properties, with the name and category of a page or screen added unless properties of those names have values.
    ///
    /// For vendors whose events carry nothing but properties.
    package var namedProperties: JSONObject {
        var properties = properties
        for (member, text) in [("name", name), ("category", category)] where properties[member].given == nil {
            properties.set(member, text)
        }
        return properties
    }

    /// The event's time in milliseconds since 1970; `now` if it has none.
    package func milliseconds(now: Timestamp) -> Int64 {
        Int64(clamping: (timestamp ?? now).nanoseconds / 1_000_000)
    }
}
