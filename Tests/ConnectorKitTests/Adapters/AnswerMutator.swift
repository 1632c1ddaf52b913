// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
import ConnectorTestSupport

/// Damages a vendor's answer at random: status, headers and body, and may put a secret in.
struct AnswerMutator: Sendable {
    /// The source of chance.
    private var random: SeededGenerator
    /// A secret that the vendor knows and may repeat.
    private let secret: String

    /// Makes the same changes for the same seed.
    init(seed: UInt64, secret: String) {
        random = SeededGenerator(seed: seed)
        self.secret = secret
    }

    /// The answer with one to four changes, and often a secret.
    mutating func mutate(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: response = HTTPResponse(status: status(), headers: response.headers, body: response.body)
            case 1: changeHeaders(&response)
            default: changeBody(&response)
            }
        }
        // Last, since a damaged secret no longer counts as one; it may still be cut.
        if Bool.random(using: &random) {
            insert(secretForm(), into: &response)
            if Int.random(in: 0..<3, using: &random) == 0 { cut(&response) }
        }
        return response
    }

    private mutating func cut(_ response: inout HTTPResponse) {
        let count = Int.random(in: 0...response.body.count, using: &random)
        response = HTTPResponse(
            status: response.status,
            headers: response.headers,
            body: Array(response.body.prefix(count))
        )
    }

    private mutating func status() -> Int {
        let usual = [200, 201, 204, 301, 302, 304, 400, 401, 403, 404, 409, 412, 413, 422, 429, 500, 503]
        return Bool.random(using: &random) ? pick(usual) : Int.random(in: 100...999, using: &random)
    }

    private mutating func changeHeaders(_ response: inout HTTPResponse) {
        let names = [
            "Content-Type", "Retry-After", "Location", "ETag", "Last-Modified", "Date", "Next-Page", "Total-Records",
        ]
        let values = [
            "", "-1", "99999999999999999999", "1e400", "text/html", "application/json; charset=\u{1}",
            "Fri, 99 Zzz 9999",
            "Sun, 06 Nov 1994 08:49:37 GMT", "http://[", "\"\"", String(repeating: "a", count: 5000), secret,
            "\u{202E}\u{9B}",
        ]
        if Int.random(in: 0..<4, using: &random) == 0, !response.headers.fields.isEmpty {
            response.headers.fields.remove(at: Int.random(in: 0..<response.headers.fields.count, using: &random))
        } else {
            response.headers.append(pick(names), pick(values))
        }
    }

    private mutating func changeBody(_ response: inout HTTPResponse) {
        var body = response.body
        let place = Int.random(in: 0...body.count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: body.removeSubrange(place...)
        case 1: body.removeSubrange(..<place)
        case 2 where place < body.count: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 3: replaceValue(in: &body)
        case 4:
            let depth = Int.random(in: 1...2000, using: &random)
            body.insert(contentsOf: Array(String(repeating: pick(["[", "{\"a\":"]), count: depth).utf8), at: place)
        case 5:
            let end = Int.random(in: place...min(body.count, place + 64), using: &random)
            body.insert(contentsOf: Array(body[place..<end]), at: Int.random(in: 0...body.count, using: &random))
        case 6:
            body.insert(
                contentsOf: pick([[0], [0xFF, 0xFE], [0xC3], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF]]),
                at: place
            )
        default: body = Array(String(repeating: pick([" ", "a", "\"", "}", "null,"]), count: 1000).utf8)
        }
        response = HTTPResponse(status: response.status, headers: response.headers, body: body)
    }

    /// Puts a value of another type, or a huge number, in the place of one that follows a colon.
    private mutating func replaceValue(in body: inout [UInt8]) {
        let colons = body.indices.filter { body[$0] == UInt8(ascii: ":") }
        guard let colon = colons.randomElement(using: &random) else { return }
        let end = body[(colon + 1)...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? body.count
        let values = [
            "null", "true", "0", "-1", "1e999", "-1e-999", "99999999999999999999999", "9223372036854775807",
            "-9223372036854775808", "0.1", "\"\"", "\"9223372036854775807\"", "\"-9223372036854775808\"",
            "\"\\u0000\\u202e\"", "[]", "{}", "[[[]]]", "\"1e309\"",
        ]
        body.replaceSubrange((colon + 1)..<end, with: Array(pick(values).utf8))
    }

    private mutating func insert(_ text: String, into response: inout HTTPResponse) {
        var body = response.body
        body.insert(contentsOf: Array(text.utf8), at: Int.random(in: 0...body.count, using: &random))
        response = HTTPResponse(status: response.status, headers: response.headers, body: body)
    }

    /// The secret as servers repeat it.
    private mutating func secretForm() -> String {
        let bytes = Array(secret.utf8)
        let hexadecimal = bytes.map { String($0, radix: 16) }.joined()
        return pick([
            secret, secret.uppercased(), PercentCoding.encode(secret),
            PercentCoding.encode(PercentCoding.encode(secret)),
            Base64.encode(bytes), Base64.encode(Array("x:\(secret)".utf8)), hexadecimal, "\(secret)\(secret)",
            "\(secret)\(Base64.encode(bytes))\(secret)", JSONValue.string(secret).serialized(),
        ])
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }
}
