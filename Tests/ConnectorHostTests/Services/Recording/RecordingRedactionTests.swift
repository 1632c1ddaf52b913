// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorPlatform
@testable import ConnectorServices

/// No secret is in a recording, in whatever form it was sent or came back, and the recording replays with another one.
@Suite(.timeLimit(.minutes(5))) struct RecordingRedactionTests {
    private static let key = RecordingBench.key

    /// How a vendor may repeat a key.
    enum Form: CaseIterable {
        case plain, base64, base64WithUser, hexadecimal, percent, doublePercent, json, unicodeEscapes

        var text: String {
            switch self {
            case .plain: key
            case .base64: Base64.encode(Array(key.utf8))
            case .base64WithUser: Base64.encode(Array("user:\(key)".utf8))
            case .hexadecimal: key.utf8.map { String($0 | 0, radix: 16) }.joined()
            case .percent: PercentCoding.encode(key)
            case .doublePercent: PercentCoding.encode(PercentCoding.encode(key))
            case .json: String(JSONValue.string(key).serialized().dropFirst().dropLast())
            case .unicodeEscapes: key.utf16.map { "\\u00" + String($0, radix: 16) }.joined()
            }
        }
    }

    /// Fails if a recording has the key in any form.
    private func expectClean(_ session: RecordingBench, _ context: String) {
        #expect(!session.text.isEmpty, "\(context)")
        for form in Form.allCases { #expect(!session.text.contains(form.text), "\(context): \(form)") }
        // All that could be read of the file by decoding it: each text, and each text as Base64.
        func check(_ value: JSONValue) {
            for element in value.array ?? [] { check(element) }
            for member in value.object?.members ?? [] { check(.string(member.name)); check(member.value) }
            guard let text = value.string else { return }
            let decoded = Base64.decode(text).map { String(decoding: $0, as: UTF8.self) } ?? ""
            for text in [text, decoded, PercentCoding.decode(text)] { #expect(!text.contains(Self.key), "\(context)") }
        }
        for answer in session.answers { check(answer) }
    }

    @Test(arguments: Form.allCases)
    func `a response has no key in any form, in its fields, its text or its JSON`(_ form: Form) async throws {
        let text = form.text
        let server = LoopbackServer { request in
            let path = request.line.split(separator: " ")[1]
            // A form that cannot be in a field or in JSON is only in the text.
            let isPlain = text.utf8.allSatisfy { $0 >= 0x20 }
            let fields = isPlain ? [("X-Key", text), ("Location", "/next?key=\(text)")] : []
            let json = form == .plain ? JSONValue.string(text).serialized() : "\"\(text)\""
            return path == "/json"
                ? .response(200, fields, Array(#"{"a":\#(json),"deep":[{"b":\#(json)}],\#(json):1,"ok":true}"#.utf8))
                : .response(200, fields, Array("before \(text) after".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        for path in ["/json", "/text"] { #expect(await plugin.request("GET", server.url(path)).code == 200) }
        expectClean(session, "\(form)")
        #expect(session.answers.count == 2)
        try await session.replay { plugin, url in
            #expect(await plugin.request("GET", url + "/text").text.hasPrefix("before "))
            let json = try JSONValue(parsing: await plugin.request("GET", url + "/json").body)
            #expect(json["ok"] == true)
        }
    }

    @Test func `a recorded request does not contain the key, and replays with another one`() async throws {
        let server = LoopbackServer { request in .response(200, [], Array(request.line.prefix(3).utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        let (percent, base64) = (PercentCoding.encode(Self.key), Base64.encode(Array(Self.key.utf8)))
        func ask(_ plugin: PluginSide, _ url: String, own: Bool) async {
            let json = [("Content-Type", "application/json")]
            let form = [("Content-Type", "application/x-www-form-urlencoded")]
            let requests: [(String, String, [(String, String)], String)] = [
                ("GET", "/q?key={{secret:key}}&page=2", [], ""), ("GET", "/bot{{secret:key}}/send", [], ""),
                ("GET", "/h", [("Authorization", "Bearer {{secret:key}}"), ("Accept", "text/{{secret:key}}")], ""),
                ("GET", "/b", [("Authorization", "Basic {{base64:user:{{secret:key}}}}")], ""),
                ("POST", "/j", json, #"{"key":"{{secret:key}}","list":["{{secret:key}}",1],"n":2}"#),
                ("POST", "/f", form, "grant=x&key={{secret:key}}&z=1"),
                ("POST", "/s?sign={{hmac-sha256:{{secret:key}}|text}}", [], "text"),
            ]
            for (method, path, fields, body) in requests {
                let end = await plugin.request(method, url + path, fields: fields, body: Array(body.utf8))
                #expect(end.code == 200, "\(path): \(end.message) \(end.text)")
            }
            // A plugin that has the key in its own texts.
            guard own else { return }
            for path in ["/own?key=\(percent)", "/own/\(percent)", "/own?b=\(PercentCoding.encode(base64))"] {
                let end = await plugin.request("POST", url + path, body: Array("{\"k\":\"\(base64)\"}".utf8))
                #expect(end.code == 200, "\(path): \(end.message)")
            }
        }
        await ask(session.plugin(), server.url(""), own: true)
        expectClean(session, "requests")
        #expect(!session.text.contains("secret") && !session.text.contains("•"))
        #expect(session.answers.count == 10)
        try await session.replay { plugin, url in
            await ask(plugin, url, own: false)
            let other = await plugin.request("GET", url + "/bot{{secret:key}}/delete")
            #expect(other.status == CONNECTOR_FAILED)
        }
    }

    @Test(arguments: [#"{"name":"demo","password":"{{secret:key}}"}"#, #"{"list":[{"of {{secret:key}}":1}],"n":2}"#])
    func `a request replays with another key if the name of a member has the key, or is the end of it`(_ body: String)
        async throws
    {
        let server = LoopbackServer { _ in
            .response(200, [], Array(#"{"password":"short","passwords":[{"of demo-password":1}]}"#.utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async -> RequestEnd {
            await plugin.request("POST", url + "/login", body: Array(body.utf8))
        }
        #expect(await ask(session.plugin(key: "demo-password"), server.url("")).code == 200)
        #expect(!session.text.contains("password") && !session.text.contains("•"))
        try await session.replay { plugin, url in
            let end = await ask(plugin, url)
            let expected: JSONValue = ["redacted": "redacted", "redacteds": [["of redacted": 1]]]
            let body = try JSONValue(parsing: end.body)
            #expect(body == expected, "\(end.message)")
        }
    }

    @Test(arguments: [1, 2, 7]) func `a key that comes split into chunks is nowhere in the recording`(size: Int)
        async throws
    {
        let bytes = Array(
            "{\"a\":\"\(JSONValue.string(Self.key).serialized().dropFirst().dropLast())\",\"ok\":true}".utf8
        )
        let server = LoopbackServer { _ in
            .written { write in
                write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
                for start in stride(from: 0, to: bytes.count, by: size) {
                    let part = bytes[start..<min(start + size, bytes.count)]
                    write(Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8))
                }
                write(Array("0\r\n\r\n".utf8))
            }
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        let parts = try plugin.stream("GET", server.url("/parts"))
        #expect(await parts.next()?.code == 200)
        while let part = await parts.part(), !part.isDone {}
        #expect(await plugin.request("GET", server.url("/whole")).code == 200)
        expectClean(session, "chunks of \(size)")
        #expect(session.answers.map { $0["json"]?["ok"] } == [true, true])
    }

    @Test(arguments: [([0xFF, 0xFE], 1), ([0xFF, 0xFE], 2), ([], 2), ([], 4)] as [([UInt8], Int)])
    func `a response with a key in bytes that are not text, or in UTF-16 or UTF-32, is withheld, and the log says so`(
        mark: [UInt8],
        width: Int
    ) async throws {
        let key = Self.key.utf8.flatMap { [$0] + [UInt8](repeating: 0, count: width - 1) }
        let server = LoopbackServer { _ in .response(200, [], mark + key + [0]) }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("GET", server.url("/raw")).code == 200)
        #expect(session.text.isEmpty)
        #expect(plugin.log.entries.contains { "\($0.message)".contains("a secret cannot be removed") })
    }

    @Test func `a key in a compressed response is nowhere in the recording`() async throws {
        let server = LoopbackServer { _ in
            let body = (try? Gzip.compress(Array("the key is \(Self.key), ok".utf8))) ?? []
            return .response(200, [("Content-Encoding", "gzip")], body)
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("GET", server.url("/whole")).code == 200)
        let parts = try plugin.stream("GET", server.url("/parts"))
        #expect(await parts.next()?.code == 200)
        while let part = await parts.part(), !part.isDone {}
        expectClean(session, "gzip")
        #expect(session.answers.map { $0["text"] } == ["the key is redacted, ok", "the key is redacted, ok"])
    }

    @Test func `a token that the vendor hands out is nowhere in the recording, and its placeholder replays`()
        async throws
    {
        let token = "tok-5f1d7a90b2c4"
        let server = LoopbackServer { request in
            request.line.contains("/login")
                ? .response(200, [], Array("{\"access_token\":\"\(token)\",\"expires_in\":3600}".utf8))
                : .response(200, [("X-Session", token)], Array("hello".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async throws {
            let login = try JSONValue(parsing: await plugin.request("POST", url + "/login").body)
            let token = try #require(login["access_token"]?.string)
            let end = await plugin.request(
                "GET",
                url + "/me?token=\(token)",
                fields: [("Authorization", "Bearer \(token)")]
            )
            #expect(end.text == "hello", "\(end.message)")
        }
        try await ask(session.plugin(), server.url(""))
        #expect(session.answers.count == 2 && !session.text.contains(token))
        try await session.replay { try await ask($0, $1) }
    }

    @Test func `a token that the vendor hands out in a header is nowhere in the recording`() async throws {
        let token = "tok-5f1d7a90b2c4"
        let server = LoopbackServer { _ in
            let headers = [("X-Subject-Token", token), ("Authorization", "Bearer \(token)")]
            return .response(200, headers, Array("{\"id\":\"\(token)\"}".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        #expect(await session.plugin().request("GET", server.url("/a")).code == 200)
        let answer = try #require(session.answers.first)
        #expect(answer["headers"] == ["authorization": "Bearer redacted", "x-subject-token": "redacted"])
        #expect(answer["json"] == ["id": "redacted"])
    }

    @Test(arguments: [
        (#""password":9988776655443322"#, "9988776655443322"), (#""password":"Sh0rt7x""#, "Sh0rt7x"),
        (#""token":["tok-5f1d7a90b2c4",7]"#, "tok-5f1d7a90b2c4"), (#""token":{"value":"Sh0rt7x"}"#, "Sh0rt7x"),
        (#""SecretAccessKey":"tok-5f1d7a90b2c4""#, "tok-5f1d7a90b2c4"), (#""jwt":"Sh0rt7x""#, "Sh0rt7x"),
        (#""v":"{\"access_token\":\"tok-5f1d7a90b2c4\"}""#, "tok-5f1d7a90b2c4"),
        (#""v":"of {'password': 'Sh0rt7x'}""#, "Sh0rt7x"),
    ])
    func `whatever a vendor hands out in JSON under the name of a token is nowhere in the recording, packed or not`(
        member: String,
        token: String
    ) async throws {
        let body = Array("{\(member),\"ok\":true}".utf8)
        let packed = try Gzip.compress(body)
        let server = LoopbackServer { request in
            request.line.contains("/packed")
                ? .response(200, [("Content-Encoding", "gzip")], packed) : .response(200, [], body)
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("GET", server.url("/a")).code == 200)
        let parts = try plugin.stream("GET", server.url("/packed"))
        #expect(await parts.next()?.code == 200)
        while let part = await parts.part(), !part.isDone {}
        #expect(session.answers.map { $0["json"]?["ok"] } == [true, true])
        #expect(!session.text.contains(token))
        try await session.replay { plugin, url in
            let json = try JSONValue(parsing: await plugin.request("GET", url + "/a").body)
            let sent = try JSONValue(parsing: body)
            #expect(json["ok"] == true && json != sent)
        }
    }

    /// Bodies with a token that a lenient parser finds, and the host's own does not.
    @Test(
        arguments: [
            #"{"access_token":"TOKEN","a":1,"a":2}"#, #"{"access_token":"TOKEN","a":1e400}"#,
            #"{"access_token":"TOKEN","a":"\ud800"}"#, "\u{FEFF}{\"access_token\":\"TOKEN\"}",
            "{\"a\":1}\n{\"access_token\" : \"TOKEN\"}\n", ")]}'\n{\"access_token\":\"TOKEN\"}",
            "data: {\"access_token\":\"TOKEN\"}\n\n", #"cb({"access_token":"TOKEN"})"#, #"{'access_token':'TOKEN'}"#,
            #"{access_token:"TOKEN"}"#, #"{"access\u005ftoken":"TOKEN","a":1,}"#, #"{"secretKey":["TOKEN"],}"#,
            #"{"a":"{\"access_token\":\"TOKEN\"}",}"#, "access_token=TOKEN&token_type=bearer",
            "<r><AccessToken>TOKEN</AccessToken></r>",
        ],
        [false, true]
    )
    func `a response that hands out a token, and is no JSON to the letter, is withheld, and the token is nowhere`(
        form: String,
        isUTF16: Bool
    ) async throws {
        let token = "tok-5f1d7a90b2c4"
        let text = form.replacing("TOKEN", with: token)
        let wide: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let body = isUTF16 ? wide : Array(text.utf8)
        let server = LoopbackServer { request in
            .response(200, [], request.line.contains("/login") ? body : Array("hello".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("POST", server.url("/login")).body == body)
        #expect(await plugin.request("GET", server.url("/me?key=\(token)")).text == "hello")
        #expect(session.answers.map { $0["path"] } == ["/me"] && !session.text.contains(token))
        #expect(plugin.log.entries.contains { "\($0.message)".contains("may issue a token") })
    }

    /// Bodies with a token that is not beside its name, or not in quotation marks.
    @Test(arguments: [
        ("text/csv; charset=utf-8", "id,token\r\n7,TOKEN\r\n"),
        ("text/tab-separated-values", "id\tsecret\n7\tTOKEN\n"),
        ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: a; name=\"jwt\"\r\n\r\nTOKEN\r\n--x--"),
        ("application/yaml", "user: ada\naccess_token: TOKEN\n"), ("text/x-yaml", "password:\n  - TOKEN\n"),
        ("application/openapi+yaml", "a: 1\napi-key: |\n  TOKEN\n"),
    ])
    func `a response of a type whose values stand apart from their names is withheld if it has the name of a token`(
        type: String,
        form: String
    ) async throws {
        let token = "tok-5f1d7a90b2c4"
        let body = Array(form.replacing("TOKEN", with: token).utf8)
        let server = LoopbackServer { request in
            request.line.contains("/login")
                ? .response(200, [("Content-Type", type)], body)
                : .response(200, [("Content-Type", type)], Array("user: ada\n".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("POST", server.url("/login")).body == body)
        #expect(await plugin.request("GET", server.url("/me")).text == "user: ada\n")
        #expect(session.answers.map { $0["path"] } == ["/me"] && !session.text.contains(token))
        #expect(plugin.log.entries.contains { "\($0.message)".contains("may issue a token") })
    }

    @Test func `a token in YAML counts as a secret from then on`() async throws {
        let token = "tok-5f1d7a90b2c4"
        let server = LoopbackServer { request in
            request.line.contains("/login")
                ? .response(200, [("Content-Type", "text/yaml")], Array("token: \(token)\n".utf8))
                : .response(200, [], Array("hello".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("POST", server.url("/login")).code == 200)
        #expect(await plugin.request("GET", server.url("/me?key=\(token)")).text == "hello")
        #expect(session.answers.map { $0["path"] } == ["/me"] && !session.text.contains(token))
    }

    @Test(arguments: [
        "the token: expired", "token", #"{"token":""} {"token":null}"#, #"{"id":"token"},"#,
        "https://a.example/token/7",
    ])
    func `a text that only speaks of a token is recorded`(text: String) async throws {
        let server = LoopbackServer { _ in .response(200, [], Array(text.utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        #expect(await session.plugin().request("GET", server.url("/a")).code == 200)
        #expect(session.answers.map { $0["text"] } == [.string(text)])
    }
}
