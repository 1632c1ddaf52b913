// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorHost {
    /// The release of this package, for people, logs and servers. Formats and the ABI are versioned separately.
    public static let version = "0.1.0"
}
