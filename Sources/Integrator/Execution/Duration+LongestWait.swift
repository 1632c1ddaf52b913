// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The longest wait of a call flow, a century. A clock may trap if much more is added to the present.
    static let longestWait = Duration.seconds(100 * 365 * 86_400)
}
