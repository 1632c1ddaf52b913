// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The earlier name of `HTTPFields`.
@available(*, deprecated, renamed: "HTTPFields")
public typealias HTTPHeaders = HTTPFields

extension HTTPFields {
    /// The earlier name of `HTTPField`.
    @available(*, deprecated, renamed: "HTTPField")
    public typealias Field = HTTPField
}
