// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension HTTPResponse {
    /// The part of the body that a `Range` field asks for, with status 206; status 416 if the body ends before the range
    /// (RFC 9110, section 14.2). The whole response unless the field has a single range that names its first byte.
    func part(_ range: String?) -> HTTPResponse {
        guard let range, range.hasPrefix("bytes="), !range.contains(",") else { return self }
        let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count == 2, let first = ends[0], first >= 0 else { return self }
        var response = self
        guard first < body.count else {
            response.status = 416
            response.headers["Content-Range"] = "bytes */\(body.count)"
            response.body = []
            return response
        }
        let last = min(ends[1] ?? .max, body.count - 1)
        guard last >= first else { return self }
        response.status = 206
        response.headers["Content-Range"] = "bytes \(first)-\(last)/\(body.count)"
        response.body = Array(body[first...last])
        return response
    }
}
