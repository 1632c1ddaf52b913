// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError.Code {
    /// How many distinct codes are counted: more than the host defines, so that the series are bounded whatever comes.
    package static let countLimit = 64
    /// Stands for every further code.
    package static let other = Self(rawValue: "_OTHER")

    /// The key under which to count the code: the code itself, or ``other`` if it is new and there is no room for it.
    package func key<Count>(in counts: [Self: Count]) -> Self {
        counts[self] != nil || counts.count < Self.countLimit ? self : .other
    }
}
