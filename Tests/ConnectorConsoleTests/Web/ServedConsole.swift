// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorPlatform
import NIOCore
import Synchronization

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHTTPServer
@testable import ConnectorHost

/// A console that is served on a free port, as a browser or an attacker meets it.
final class ServedConsole: Sendable {
    /// The port.
    let port: Int
    /// The server.
    let server: WebServer
    private let serving: Task<Void, any Error>
    private let links: LinkList

    /// The links that were announced.
    final class LinkList: Sendable {
        private let links = Mutex<[String]>([])
        private let stream = AsyncStream.makeStream(of: String.self)

        /// Adds a link.
        func add(_ link: String) {
            links.withLock { $0.append(link) }
            stream.continuation.yield(link)
        }

        /// The first one, once it has been announced.
        func first() async -> String? {
            for await link in stream.stream { return link }
            return nil
        }

        /// Every one so far.
        var all: [String] { links.withLock(\.self) }
    }

    /// Serves a host until ``stop()``.
    init(
        _ host: ConnectorHost,
        _ change: (inout WebConsole.Options) -> Void = { _ in },
        limits: ServerLimits = ServerLimits(),
        clock: any HostClock = SystemHostClock()
    ) async throws {
        var options = WebConsole.Options()
        change(&options)
        let links = LinkList()
        self.links = links
        let model = HostConsoleModel(host)
        let server = try WebServer(model, host, options, limits: limits, clock: clock) { links.add($0) }
        self.server = server
        serving = Task {
            try await server.run()
        }
        let link = await links.first() ?? ""
        port = Int(link.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
    }

    /// A host with one gate, which opens nothing.
    static func host() throws -> ConnectorHost {
        try ConnectorHost.testing(
            #"[{"name": "a", "plugin": "segment", "config": {"endpoint": "http://127.0.0.1:1", "writeKey": {"secret": "env:KEY"}}}]"#,
            plugins: ["\(ConnectorHost.Options.executableDirectory ?? "")/libsegment.so"],
            environment: ["KEY": "key"]
        )
    }

    /// Every link that was announced.
    var announced: [String] { links.all }

    /// Authenticates clients.
    var authenticator: Authenticator { server.authenticator }

    /// The token of the link that was not used yet.
    var token: String { links.all.last.flatMap { $0.split(separator: "=").last.map(String.init) } ?? "" }

    /// The URL's authority.
    var authority: String { "127.0.0.1:\(port)" }

    /// Sends a request and returns the whole answer.
    func ask(
        _ method: String = "GET",
        _ target: String,
        host: String? = nil,
        _ fields: [String: String] = [:],
        body: String = ""
    ) async throws -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? authority)", "Connection: close"]
        if !body.isEmpty {
            lines += ["Content-Length: \(body.utf8.count)", "Content-Type: application/x-www-form-urlencoded"]
        }
        lines += fields.map { "\($0.key): \($0.value)" }
        return try await RawConnection(port: port).send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Enters by the link.
    ///
    /// - Returns: The cookie, as it is sent back.
    func enter() async throws -> String {
        let answer = try await ask("GET", "/?token=\(token)")
        return answer.field("set-cookie")?.split(separator: ";").first.map(String.init) ?? ""
    }

    /// Stops.
    func stop() async {
        serving.cancel()
        _ = await serving.result
    }
}

extension String {
    /// The status of an answer.
    var status: Int { split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }

    /// The value of a header field.
    func field(_ name: String) -> String? {
        for line in split(separator: "\r\n") where line.lowercased().hasPrefix(name.lowercased() + ":") {
            return line.dropFirst(name.count + 1).drop { $0 == " " }.description
        }
        return nil
    }
}
