// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension QueryItems {
    /// The maximum number of fields parsed; the console's forms have fewer.
    private static let formLimit = 256

    /// Parses the fields of a query or a posted form; fields that are not encoded correctly are omitted.
    init(form text: some StringProtocol) {
        self.init(parsing: text, malformed: .omitted, limit: Self.formLimit)
    }
}
