// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError.Code {
    /// The code for every failure status of `connector/error.h` that a plugin may return.
    ///
    /// The numbers are part of the ABI; a test compares them with the header, which this module does not import.
    private static let statuses: [(status: Int32, code: Self)] = [
        (1, .failed), (2, .invalid), (3, .unsupported), (4, .unauthorized), (5, .missing), (6, .conflict),
        (7, .rateLimited), (8, .unavailable), (9, .timedOut), (10, .cancelled), (11, .denied), (12, .tooLarge),
        (13, .protocolViolation), (14, .notOpen),
    ]

    /// The codes of the failures that a plugin's function may return.
    package static var returnable: [Self] { statuses.map(\.code) }

    /// The code of a status of the ABI; nil for any other number.
    package init?(abiStatus status: Int32) {
        guard let found = Self.statuses.first(where: { $0.status == status }) else { return nil }
        self = found.code
    }

    /// The status of the ABI for this code; nil if there is none.
    package var abiStatus: Int32? { Self.statuses.first { $0.code == self }?.status }
}
