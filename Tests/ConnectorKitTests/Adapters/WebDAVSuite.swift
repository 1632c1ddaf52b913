// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// A script in whose answers `{path}` stands for the path that was asked for: uploads make up names.
struct NamingHTTP: HTTPService {
    let script: ScriptedHTTP

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        try await stream(request, silence: nil).response(limit: 1 << 20)
    }

    func stream(_ request: HTTPRequest, body: HTTPUpload?, silence: Duration?) async throws(PluginError) -> HTTPStream {
        var response = try await script.stream(request, body: body, silence: silence).response(limit: 1 << 20)
        let path = String(request.url.description.dropFirst(request.url.origin.count))
        response.body = Array(String(decoding: response.body, as: UTF8.self).replacing("{path}", with: path).utf8)
        return HTTPStream(response)
    }
}

/// What the tests of the adapter of WebDAV servers share.
protocol WebDAVSuite {}

extension WebDAVSuite {
    var collection: String { "<d:resourcetype><d:collection/></d:resourcetype>" }

    func webdav(_ http: some HTTPService, _ fields: JSONObject = [:]) throws -> WebDAV {
        var all: JSONObject = [
            "endpoint": "http://vendor.example/files/", "username": "ada", "password": "{{secret:password}}",
        ]
        for member in fields.members { all[member.name] = member.value }
        return try WebDAV(configuration: PluginConfiguration(all), host: Host(http: http, clock: StoppedClock()))
    }

    func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    func found(_ path: String, _ properties: String? = nil) -> (Int, String) {
        let usual = """
            <d:resourcetype/><d:getcontentlength>3</d:getcontentlength><d:getetag>"1"</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            """
        return (207, multistatus(response(path, properties ?? usual)))
    }

    /// An answer that the requested file exists; for ``NamingHTTP``.
    func there(_ size: Int? = 3, tag: String = "1") -> (Int, String) {
        let length = size.map { "<d:getcontentlength>\($0)</d:getcontentlength>" } ?? ""
        return found(
            "{path}",
            """
            <d:resourcetype/>\(length)<d:getetag>"\(tag)"</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            """
        )
    }

    func response(_ path: String, _ properties: String) -> String {
        """
        <d:response><d:href>\(path)</d:href><d:propstat><d:prop>\(properties)</d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        """
    }

    func multistatus(_ responses: String) -> String {
        #"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">\#(responses)</d:multistatus>"#
    }

    func http(_ answers: [(Int, String)], _ headers: HTTPFields = [:]) -> ScriptedHTTP {
        ScriptedHTTP(
            answers.map { .response(HTTPResponse(status: $0.0, headers: headers, body: Array($0.1.utf8))) }
        )
    }
}
