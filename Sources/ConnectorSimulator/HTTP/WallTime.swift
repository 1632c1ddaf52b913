// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The earlier name of `Timestamp`.
@available(*, deprecated, renamed: "Timestamp")
public typealias WallTime = Timestamp
