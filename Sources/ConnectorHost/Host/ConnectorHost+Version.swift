// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorHost {
    /// Which release this is, for people, logs and servers; formats and the ABI have versions of their own.
    public static let version = "0.1.0"
}
