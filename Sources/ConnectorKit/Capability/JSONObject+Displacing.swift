// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension JSONObject {
    /// Sets a member whose name is the adapter's, in an object of the application's. A member that has the name already keeps its value
    /// under the first free name that adds `_`.
    package mutating func displace(_ name: String, with value: JSONValue) {
        if let present = self[name] {
            var free = name + "_"
            while self[free] != nil { free += "_" }
            self[free] = present
        }
        self[name] = value
    }

    /// Sets a member of the application's under the name that a vendor takes.
    ///
    /// - Throws: A ``PluginError`` of status `invalid` if another member has that name: only one of them would be sent.
    package mutating func set(_ value: JSONValue, of original: String, as name: String) throws(PluginError) {
        guard self[name] == nil else {
            throw PluginError(.invalid, "\"\(original.prefix(60))\" would be sent as \(name), and so would another one")
        }
        self[name] = value
    }
}
