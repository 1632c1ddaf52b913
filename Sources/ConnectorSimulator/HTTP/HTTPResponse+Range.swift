// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension HTTPResponse {
    /// The part of the body that a `Range` field asks for, with status 206; status 416 if there is none of it (RFC 9110,
    /// section 14.2). The whole response unless the field has a single range, such as `bytes=2-5`, `bytes=2-` or `bytes=-5`.
    func part(_ range: String?) -> HTTPResponse {
        guard let range, range.starts(ascii: "bytes=") else { return self }
        let ends = range.dropFirst(6).split(ascii: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return self }
        let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        let (first, last): (Int, Int)
        switch (numbers[0], numbers[1]) {
        case (nil, nil): return self
        case (nil, let count?): (first, last) = (max(0, body.count - count), body.count - 1)
        case (let start?, let end):
            guard start <= end ?? .max else { return self }
            (first, last) = (start, min(end ?? .max, body.count - 1))
        }
        var response = self
        guard first < body.count else {
            response.status = 416
            response.headers["Content-Range"] = "bytes */\(body.count)"
            response.body = []
            return response
        }
        response.status = 206
        response.headers["Content-Range"] = "bytes \(first)-\(last)/\(body.count)"
        response.body = Array(body[first...last])
        return response
    }
}
