// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension Timestamp {
    /// Reads the date of an HTTP header (RFC 9110, section 5.6.7, preferred form): `Sun, 06 Nov 1994 08:49:37 GMT`.
    init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(where: { $0 == parts[2] }) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        self.init(parsing: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    /// The time from another moment to this one; zero if this one is not later.
    func duration(since other: Timestamp) -> Duration {
        self <= other ? .zero : .nanoseconds(Int64(clamping: nanoseconds - other.nanoseconds))
    }
}
