// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host simulate`, talked to while it runs.
@Suite struct SimulateCommandTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `simulate serves until it is interrupted, and ends with 0`(signal: Int32) async throws {
        let child = try Program(directory: "/").start(["simulate", "--json"])
        let text = await child.output(until: "\n}\n")
        let document = try JSONValue(parsing: text)
        #expect(document["version"] == 1)
        let vendors = try #require(document["vendors"]?.array)
        #expect(vendors.count >= 8)
        let segment = try #require(vendors.first { $0["name"] == "segment" })
        #expect(segment["url"]?.string?.hasSuffix("/segment") == true)
        #expect(segment["credentials"]?["writeKey"]?.string != nil)
        child.signal(signal)
        let result = try await child.finish()
        #expect(result.status == 0)
        #expect(result.output == "")
        // On a busy machine it may take long enough to say what it waits for.
        #expect(result.error.isEmpty || result.error.hasPrefix("connector-host: waiting for requests in progress;"))
    }

    @Test func `a port on which no simulators listen is said in the system's words`() async throws {
        let program = Program(directory: "/")
        let result = try await program.run("simulate", "--into", "1", "--fault", "google:status=503", "--json")
        let error = try JSONValue(parsing: result.output)["errors"]?[0]
        #expect(result.status == 1 && error?["code"] == "unavailable", "\(result.output)")
        #expect(error?["cause"]?.string?.hasPrefix("Connection refused") == true, "\(result.output)")
    }

    @Test func `what simulate prints leads to the simulator, from the vendors' own clients, too`() async throws {
        let child = try Program(directory: "/").start(["simulate", "--json"])
        let document = try JSONValue(parsing: await child.output(until: "\n}\n"))
        let vendors = try #require(document["vendors"]?.array)
        func value(_ key: String, of name: String) -> String? {
            vendors.first { $0["name"] == .string(name) }?["credentials"]?[key]?.string
        }
        let root = try #require(document["received"]?.string?.dropLast("/_received".count).dropFirst("http://".count))
        let key = try #require(value("publicKey", of: "sentry"))
        #expect(value("dsn", of: "sentry") == "http://\(key)@\(root)/sentry/1")
        #expect(value("endpoint", of: "kinto") == "http://\(root)/kinto/v1")
        #expect(value("endpoint", of: "webdav") == "http://\(root)/webdav/files")
        #expect(value("endpoint", of: "parse") == "http://\(root)/parse/parse")
        #expect(value("endpoint", of: "segment") == nil)
        child.signal(SIGTERM)
        #expect(try await child.finish().status == 0)
    }

    /// Starts a simulator of one vendor.
    private func started(
        _ vendor: String,
        _ others: String...
    ) async throws -> (simulator: Child, credentials: JSONObject, port: Int) {
        let simulator = try Program(directory: "/").start(["simulate", "--json", "--vendor", vendor] + others)
        let served = try JSONValue(parsing: await simulator.output(until: "\n}\n"))["vendors"]?[0]
        let port = try #require(served?["url"]?.string?.split(separator: ":").last.flatMap { Int($0) })
        return (simulator, try #require(served?["credentials"]?.object), port)
    }

    /// Sends a request to a simulator.
    private func send(
        _ request: String,
        _ body: String = "",
        token: String = "",
        to port: Int
    ) throws -> RawSocket.Box {
        let fields = [
            "Host: 127.0.0.1", "Connection: close", "Content-Length: \(body.utf8.count)",
            token.isEmpty ? nil : "Authorization: \(token)",
        ]
        let head = (["\(request) HTTP/1.1"] + fields.compactMap(\.self)).joined(separator: "\r\n")
        let socket = RawSocket.Box(try RawSocket(port: port))
        socket.value.send("\(head)\r\n\r\n\(body)".utf8)
        return socket
    }

    @Test func `a stream that never ends by itself does not keep simulate from ending`() async throws {
        let (simulator, credentials, port) = try await started("etcd")
        let user: JSONObject = [
            "name": try #require(credentials["username"]), "password": try #require(credentials["password"]),
        ]
        let login = try send("POST /v3/auth/authenticate", JSONValue.object(user).serialized(), to: port).value.read()
        let token = try #require(login.firstMatch(of: #/"token":\s*"([^"]+)"/#)).output.1
        let create = #"{"create_request": {"key": "AA=="}}"#
        let watch = try send("POST /v3/watch", create, token: String(token), to: port)
        #expect(watch.value.read(until: "created").contains("created"))
        simulator.signal(SIGINT)
        #expect(try await simulator.finish().status == 0)
        #expect(watch.value.read().hasSuffix("0\r\n\r\n"), "it ends, and is not broken off")
    }

    @Test func `after one signal simulate waits for a request in progress, and a second one ends it`() async throws {
        let (simulator, _, port) = try await started("kinto", "--fault", "kinto:slow=30m")
        let slow = try send("GET /v1/", to: port)
        while try !send("GET /_received", to: port).value.read().contains("/v1/") {}
        simulator.signal(SIGINT)
        let error = await simulator.error(until: "exits immediately")
        #expect(error.contains("waiting for requests in progress; Ctrl-C again"), "\(error)")
        simulator.signal(SIGINT)
        #expect(try await simulator.finish().status == 130)
        _ = slow
    }

    @Test func `gates open against the simulator, and see the faults that it was given`() async throws {
        let simulator = try Program(directory: "/").start(["simulate", "--json", "--fault", "kinto:status=503"])
        let served = try JSONValue(parsing: await simulator.output(until: "\n}\n"))
        let vendors = try #require(served["vendors"]?.array)
        func vendor(_ name: String) throws -> (url: String, credentials: JSONObject) {
            let vendor = try #require(vendors.first { $0["name"]?.string == name })
            return (try #require(vendor["url"]?.string), try #require(vendor["credentials"]?.object))
        }
        let (segment, kinto) = (try vendor("segment"), try vendor("kinto"))
        let workspace = try Workspace()
        var segmentConfiguration = segment.credentials
        segmentConfiguration["endpoint"] = .string(segment.url)
        var kintoConfiguration = kinto.credentials
        kintoConfiguration["endpoint"] = .string("\(kinto.url)/v1")
        try workspace.configure([
            ["name": "analytics", "plugin": "segment", "config": .object(segmentConfiguration)],
            ["name": "database", "plugin": "kinto", "config": .object(kintoConfiguration)],
        ])
        let result = try await workspace.program.run("status", "--json")
        #expect(result.status == 1, "\(result.output)\(result.error)")
        let report = try JSONValue(parsing: result.output)
        #expect(report["gates"]?[0]?["state"] == "open")
        #expect(report["gates"]?[1]?["state"] == "failed")
        #expect(report["gates"]?[1]?["error"]?["code"] == "unavailable")
        simulator.signal(SIGTERM)
        #expect(try await simulator.finish().status == 0)
    }

    @Test func `a port that is taken is an error, and the status is 1`() async throws {
        let first = try Program(directory: "/").start(["simulate", "--json", "--vendor", "kinto"])
        let served = try JSONValue(parsing: await first.output(until: "\n}\n"))
        let port = try #require(served["vendors"]?[0]?["url"]?.string?.split(separator: ":").last)
        let second = try await Program(directory: "/").run("simulate", "--port", String(port))
        #expect(second.status == 1)
        #expect(second.output == "")
        #expect(second.error.contains("cannot serve on port \(port)"))
        first.signal(SIGINT)
        #expect(try await first.finish().status == 0)
    }
}
