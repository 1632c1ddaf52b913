// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import s3

/// What the tests of the adapter of S3 share.
protocol S3Suite {}

extension S3Suite {
    func s3(_ http: some HTTPService, _ fields: JSONObject = [:]) throws -> S3 {
        var all: JSONObject = [
            "endpoint": "http://vendor.example:9000", "region": "eu-central-1", "bucket": "b", "virtualHost": false,
            "accessKey": "{{secret:accessKey}}", "secretKey": "{{secret:secretKey}}",
        ]
        for member in fields.members { all[member.name] = member.value }
        return try S3(configuration: PluginConfiguration(all), host: Host(http: http, clock: StoppedClock()))
    }

    func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    func http(_ answers: [(Int, String)], _ headers: HTTPFields = [:]) -> ScriptedHTTP {
        ScriptedHTTP(
            answers.map { .response(HTTPResponse(status: $0.0, headers: headers, body: Array($0.1.utf8))) }
        )
    }

    func list(_ keys: [String], isTruncated: Bool = false) -> (Int, String) {
        let contents = keys.map { key in
            """
            <Contents><Key>\(XMLElement.escaped(key))</Key><LastModified>2026-01-31T09:30:00.000Z</LastModified>
            <ETag>&quot;1a&quot;</ETag><Size>3</Size></Contents>
            """
        }
        return (
            200,
            """
            <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
            <IsTruncated>\(isTruncated)</IsTruncated>\(contents.joined())</ListBucketResult>
            """
        )
    }

    func error(_ status: Int, _ code: String) -> (Int, String) {
        (status, "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>So it is</Message></Error>")
    }

    /// The headers of a file of three bytes.
    var entry: HTTPFields {
        ["Content-Length": "3", "Last-Modified": "Sat, 31 Jan 2026 09:30:00 GMT", "ETag": "\"1a\""]
    }
}
