// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension QueryItems {
    /// The most fields that are read; a form of ours has fewer.
    private static let formLimit = 256

    /// Reads the fields of a query or a posted form; those that are not encoded as they should be are left out.
    init(form text: some StringProtocol) {
        self.init(parsing: text, malformed: .omitted, limit: Self.formLimit)
    }
}
