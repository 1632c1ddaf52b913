// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A copy of a plugin's request, with placeholders where its secrets will be.
package struct RequestTemplate: Sendable {
    /// The CONNECTOR_HTTP_ flags.
    package var flags: UInt32
    /// The method as written.
    package var method: String
    /// The URL as written, a template.
    package var url: String
    /// The headers as written, with templates as values.
    package var headers: HTTPFields
    /// The body: a template, unless the flags say that it is verbatim.
    package var body: [UInt8]
    /// The length of a body in parts, in bytes; nil if it is unknown.
    package var length: Int64? = nil
    /// The deadline, in nanoseconds on the monotonic clock; `.max` for none.
    package var deadline: UInt64
    /// The plugin's own call that this request serves; 0 for none.
    package var during: UInt64 = 0
}
