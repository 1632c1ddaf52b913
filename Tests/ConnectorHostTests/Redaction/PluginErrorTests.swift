// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What the host answers a plugin does not tell whether a text of the plugin contains a secret, and has none that the host inserted.
@Suite(.timeLimit(.minutes(5))) struct PluginErrorTests {
    /// The secret of another connector, and texts that a plugin may try: its beginning, all of it, and neither.
    private static let secret = "sk_live_51habc9x7q2m8zk4w0pd"
    private static let guesses = ["sk_l", "sk_x", secret, "sk_live_51habc9x7q2m8zk4w0px"]

    /// A plugin on a host that has that secret.
    private func plugin(secrets: [String: String] = [:]) -> PluginSide {
        let plugin = PluginSide(secrets: secrets)
        plugin.gate.context.redactor.add([Secret(Self.secret)])
        return plugin
    }

    @Test(arguments: guesses)
    func `a header of a request that is refused is named as the plugin names it`(guess: String) async {
        let end = await plugin().request("GET", "http://127.0.0.1/", fields: [("\(guess)...", "a\nb")])
        #expect(end.status == CONNECTOR_INVALID)
        #expect(end.message == "the header \(guess)... has a line break or another control character in its value")
    }

    @Test(arguments: guesses)
    func `so is the host that the plugin may not reach`(guess: String) async {
        let end = await plugin().request("GET", "http://\(guess).example/")
        #expect(end.status == CONNECTOR_DENIED && end.message.hasPrefix("the host \(guess).example is not one"))
    }

    @Test(arguments: guesses)
    func `so are the placeholder and the use that do not exist`(guess: String) async {
        let end = await plugin().request("GET", "http://127.0.0.1/{{secret:\(guess)}}")
        #expect(end.status == CONNECTOR_INVALID && end.message.hasPrefix("{{secret:\(guess)}} names no secret field"))
        let failure = #expect(throws: ServiceFailure.self) { try plugin().gate.checkUse(guess) }
        #expect(failure?.message == "the manifest's \"uses\" does not name \"\(guess)\"")
    }

    @Test(arguments: guesses)
    func `so is the place to which the plugin's own server redirects`(guess: String) async {
        let server = LoopbackServer { _ in .response(302, [("Location", "http://\(guess).example/")]) }
        defer { server.stop() }
        let end = await plugin().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL && end.message.contains("redirects to \(guess).example, which"))
    }

    @Test(arguments: guesses)
    func `the error of another gate has the words of its plugin, and the report has them without secrets`(
        guess: String
    ) async throws {
        let test = try await TestHost.opened()
        let node = try #require(test.host.current.tree["gate"])
        node.gate?.dependencies.redactor.add([Secret(Self.secret)])
        let capability = try #require(node.capabilities.first?.id)
        let arguments = CallArguments([guess: 1] as JSONObject)
        let error = try await failure { () async throws(ConnectorError) in
            try await node.call("answer", of: capability, arguments, CallOptions(), in: test.host.current)
        }
        #expect(error.message.contains("has no parameter \"\(guess)\"") && error.connector == "gate")
        let reported = try #require(try test.gate("gate").calls?.lastFailure)
        #expect(!reported.message.contains(Self.secret))
        await test.host.close()
    }

    @Test func `a plugin learns that another gate is not open, and not from what text that came`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "refuses"]))
        await test.host.open()
        let node = try #require(test.host.current.tree["gate"])
        let capability = try #require(node.capabilities.first?.id)
        let arguments = CallArguments(["value": 1] as JSONObject)
        let error = try await failure { () async throws(ConnectorError) in
            try await node.call("answer", of: capability, arguments, CallOptions(), in: test.host.current)
        }
        #expect(error.code == .notOpen && error.message == "the gate has failed" && error.cause == nil)
        let own = try await failure { () async throws(ConnectorError) in
            try await test.call("gate", "answer", ["value": 1])
        }
        #expect(own.code == .notOpen && own.cause?.contains("the vendor refused the credentials") == true)
        await test.host.close()
    }

    // MARK: What the host inserted

    @Test func `a host that the host inserted is masked when it does not answer`() async throws {
        let port = try LoopbackPort.free()
        let end = await plugin(secrets: ["host": "127.0.0.1"]).request("GET", "http://{{secret:host}}:\(port)/a")
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.message.hasPrefix("no connection to •••:\(port): "))
    }

    @Test(arguments: ["http://{{secret:key}}.example:8080/", "http://{{base64:{{secret:key}}}}.example:8080"])
    func `a part of a host that the host inserted is masked`(url: String) async {
        let end = await plugin(secrets: ["key": "abc"]).request("GET", url)
        #expect(end.status == CONNECTOR_DENIED && end.message.hasPrefix("the host •••.example:8080 is not one"))
    }

    @Test func `a redirect does not show what the host inserted into the path, nor into the host`() async {
        let server = LoopbackServer { _ in .response(303, [("Location", "/bots3cr3t-42/done")]) }
        defer { server.stop() }
        func message(_ url: String) async -> String {
            let plugin = plugin(secrets: ["key": "s3cr3t-42", "host": "127.0.0.1"])
            let end = await plugin.request("POST", url, body: [1], flags: CONNECTOR_HTTP_KEEP_METHOD)
            #expect(end.status == CONNECTOR_PROTOCOL)
            return end.message
        }
        let inPath = await message(server.url("/bot{{secret:key}}/send"))
        #expect(inPath.contains("a redirect (303) to 127.0.0.1:\(server.port), which would lose its body"))
        let inHost = await message("http://{{secret:host}}:\(server.port)/send")
        #expect(inHost.contains("a redirect (303) to •••:\(server.port), which would lose its body"))
        let without = await message(server.url("/send"))
        #expect(without.contains("to 127.0.0.1:\(server.port)/bots3cr3t-42/done, which"), "the server's own words")
    }
}
