// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whom NATS servers let in, and which servers the client trusts.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSSecurityTests {
    private static let fixtures =
        #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures"
    private static let authority = "\(fixtures)/certificates/authority.pem"
    private static let encryption = """
        tls { cert_file: "\(fixtures)/certificates/localhost.pem", key_file: "\(fixtures)/certificates/localhost.key.pem" }

        """

    /// What ``encryption`` says, and that clients need a certificate.
    private static let verification = """
        tls {
            cert_file: "\(fixtures)/certificates/localhost.pem", key_file: "\(fixtures)/certificates/localhost.key.pem"
            ca_file: "\(fixtures)/certificates/client.pem", verify: true
        }

        """

    private func token(_ token: String) -> String { "authorization { token: \"\(token)\" }\n" }

    private func engine(_ settings: NATSSettings) async throws(ConnectorError) -> NATSEngine {
        try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
    }

    /// Stores an event as soon as the servers take it, for a minute at most.
    ///
    /// - Returns: What was said until then.
    private func append(_ number: Int, _ engine: NATSEngine, until isEnough: (ConnectorError) -> Bool = { _ in false })
        async throws -> [ConnectorError]
    {
        let clock = engine.jetStream.clock
        let deadline = clock.now() + 60_000_000_000
        var errors: [ConnectorError] = []
        while true {
            do throws(ConnectorError) {
                _ = try await engine.append([.numbered(number)], to: ["a"])
                return errors
            } catch {
                errors.append(error)
                if isEnough(error) { return errors }
                guard clock.now() < deadline else { throw error }
                _ = await OneShot<Void>().wait(by: clock.now() + 20_000_000, on: clock)
            }
        }
    }

    private func ids(_ engine: NATSEngine) async throws -> [String] {
        try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start).entries.map(\.id)
    }

    @Test func `an encrypted connection needs a certificate of a trusted authority, for the server's name`()
        async throws
    {
        let servers = try await NATSServers(configuration: Self.encryption)
        var settings = servers.settings(host: "localhost")
        settings.authorities = Self.authority
        _ = try await servers.migrate(["a"], settings)
        let engine = try await engine(settings)
        #expect(try await engine.append([.numbered(1)], to: ["a"]).isApplied == [true])
        await engine.close()

        var others: [NATSSettings] = []
        // The system's authorities, another one, another name; and the server alone asks for encryption.
        settings.authorities = nil
        settings.isEncrypted = true
        others.append(settings)
        settings.authorities = "\(Self.fixtures)/certificates/localhost.pem"
        others.append(settings)
        settings = servers.settings()
        settings.authorities = Self.authority
        others.append(settings)
        others.append(servers.settings(host: "localhost"))
        for (settings, words) in zip(
            others,
            ["issuer certificate", "issuer certificate", "mismatch", "issuer certificate"]
        ) {
            let error = await #expect(throws: ConnectorError.self) { try await self.engine(settings) }
            #expect(error?.code == .storage && error?.fix?.contains("tls") == true)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
        settings.authorities = "\(Self.fixtures)/nothing.pem"
        let absent = await #expect(throws: ConnectorError.self) { try await self.engine(settings) }
        #expect(absent?.message.contains("nothing.pem cannot be read") == true, "\(absent?.message ?? "")")
    }

    @Test func `a server with as many connections as it may have is named as a reason why encryption fails`()
        async throws
    {
        let servers = try await NATSServers(configuration: Self.encryption)
        var trusting = servers.settings(host: "localhost")
        trusting.authorities = Self.authority
        let settings = trusting
        _ = try await servers.migrate(["a"], settings)
        servers.kill(0)
        try servers.configure(Self.encryption + "max_connections: 1\n")
        try servers.start(0)
        var first: NATSConnection?
        while first == nil {
            first = try? await NATSConnection.connect(settings, renewed: { settings })
            try await Task.checkedYield()
        }
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSConnection.connect(settings, renewed: { settings })
        }
        #expect(error?.fix?.contains("max_connections") == true, "\(error?.description ?? "")")
        await first?.close()
    }

    @Test func `a server that verifies clients lets in those with a certificate, and the others learn what to set`()
        async throws
    {
        let servers = try await NATSServers(configuration: Self.verification)
        var settings = servers.settings(host: "localhost")
        settings.authorities = Self.authority
        settings.certificate = "\(Self.fixtures)/certificates/client.pem"
        settings.key = "\(Self.fixtures)/certificates/client.key.pem"
        try await opens(servers, settings)

        var without = settings
        (without.certificate, without.key) = (nil, nil)
        let absent = await #expect(throws: ConnectorError.self) { try await self.engine(without) }
        #expect(absent?.fix?.contains("set \"cert\" and \"key\"") == true, "\(absent?.fix ?? "")")
        var unknown = settings
        unknown.certificate = "\(Self.fixtures)/certificates/localhost.pem"
        let mixed = await #expect(throws: ConnectorError.self) { try await self.engine(unknown) }
        #expect(mixed?.message.contains("private key") == true, "\(mixed?.message ?? "")")
        unknown.key = "\(Self.fixtures)/certificates/localhost.key.pem"
        let refused = await #expect(throws: ConnectorError.self) { try await self.engine(unknown) }
        #expect(refused?.fix?.contains("see their logs") == true, "\(refused?.fix ?? "")")
        unknown.key = "\(Self.fixtures)/nothing.pem"
        let nothing = await #expect(throws: ConnectorError.self) { try await self.engine(unknown) }
        #expect(nothing?.message.contains("nothing.pem cannot be read") == true, "\(nothing?.message ?? "")")
        #expect(nothing?.fix?.contains("\"key\" in \"tls\"") == true, "\(nothing?.fix ?? "")")
    }

    @Test func `the right token opens the servers, a wrong one does not, and an open engine takes a new one`()
        async throws
    {
        let servers = try await NATSServers(configuration: Self.encryption + token("sesame"))
        var settings = servers.settings(token: "sesame", host: "localhost")
        settings.authorities = Self.authority
        _ = try await servers.migrate(["a"], settings)
        var wrong = settings
        wrong.token = "wrong"
        let refused = await #expect(throws: ConnectorError.self) { try await self.engine(wrong) }
        #expect(refused?.code == .storage)
        #expect(refused.map { "\($0)".contains("wrong") } == false)
        #expect(refused?.message.contains("Auth") == true, "\(refused?.message ?? "")")

        let known = Mutex("sesame")
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start }) { [settings] in
            var settings = settings
            settings.token = known.withLock(\.self)
            return settings
        }
        _ = try await engine.append([.numbered(1)], to: ["a"])
        servers.kill(0)
        try servers.configure(Self.encryption + token("simsim"))
        try servers.start(0)
        // Refused twice, the library has given up, and the engine keeps trying the old token.
        let said = try await append(2, engine) { $0.message.contains("Auth") }
        #expect(said.last?.message.contains("Auth") == true)
        #expect(said.last.map { "\($0)".contains("sesame") } == false)
        known.withLock { $0 = "simsim" }
        _ = try await append(3, engine)
        #expect(try await ids(engine) == ["event-1", "event-3"])
        await engine.close()
    }

    @Test func `a credentials file opens the servers, and is read again when its credentials are revoked`() async throws
    {
        let folder = try Folder()
        let servers = try await NATSServers(configuration: try text("both.conf"))
        var settings = servers.settings()
        settings.credentials = "\(folder.path)/creds"
        try write(try text("first.creds"), to: "\(folder.path)/creds")
        _ = try await servers.migrate(["a"], settings)
        let engine = try await engine(settings)
        _ = try await engine.append([.numbered(1)], to: ["a"])
        servers.kill(0)
        try servers.configure(try text("second.conf"))
        try servers.start(0)
        let said = try await append(2, engine) { $0.message.contains("Auth") }
        #expect(said.last?.message.contains("Auth") == true)
        let refused = await #expect(throws: ConnectorError.self) { try await self.engine(settings) }
        #expect(refused?.message.contains("Auth") == true, "\(refused?.message ?? "")")
        try write(try text("second.creds"), to: "\(folder.path)/creds")
        _ = try await append(3, engine)
        #expect(try await ids(engine) == ["event-1", "event-3"])
        await engine.close()
        settings.credentials = "\(folder.path)/nothing"
        let absent = await #expect(throws: ConnectorError.self) { try await self.engine(settings) }
        #expect(absent?.message.contains("nothing") == true, "\(absent?.message ?? "")")
    }

    @Test func `a file of credentials with the line ends of another system opens the servers`() async throws {
        let folder = try Folder()
        let servers = try await NATSServers(configuration: try text("both.conf"))
        var settings = servers.settings()
        settings.credentials = "\(folder.path)/creds"
        let lines = try text("first.creds").split(separator: "\n", omittingEmptySubsequences: false)
        try write("\u{FEFF}" + lines.joined(separator: "\r\n"), to: "\(folder.path)/creds")
        try await opens(servers, settings)
    }

    @Test func `a file of credentials opens servers that ask for none`() async throws {
        let servers = try await NATSServers()
        var settings = servers.settings()
        settings.credentials = "\(Self.fixtures)/nats/first.creds"
        try await opens(servers, settings)
    }

    /// Checks that an engine on servers stores an event.
    private func opens(_ servers: NATSServers, _ settings: NATSSettings) async throws {
        _ = try await servers.migrate(["a"], settings)
        let engine = try await engine(settings)
        #expect(try await engine.append([.numbered(1)], to: ["a"]).isApplied == [true])
        await engine.close()
    }

    @Test func `new certificates are read while an engine is open, and until then the failure is told`() async throws {
        let servers = try await NATSServers()
        var plain = servers.settings(host: "localhost")
        _ = try await servers.migrate(["a"], plain)
        (plain.waits.answer, plain.waits.limit) = (200_000_000, 1_000_000_000)
        let trusted = Mutex<String?>(nil)
        let engine = try await NATSEngine(plain, paths: ["a"], now: { OutboxEvent.start }) { [plain] in
            var settings = plain
            settings.authorities = trusted.withLock(\.self)
            return settings
        }
        _ = try await append(1, engine)
        servers.kill(0)
        try servers.configure(Self.encryption)
        try servers.start(0)
        let said = try await append(2, engine) { $0.message.contains("issuer certificate") }
        #expect(said.last?.message.contains("issuer certificate") == true)
        trusted.withLock { $0 = Self.authority }
        _ = try await append(3, engine)
        #expect(try await ids(engine) == ["event-1", "event-3"])
        await engine.close()
    }

    @Test func `that the user may not delete what is settled is told once, with the subject`() async throws {
        let user =
            #"{user: u, password: sesame, permissions: {publish: {deny: ["$JS.API.STREAM.MSG.DELETE.>"]}}}"#
        let servers = try await NATSServers(configuration: "authorization { users: [\(user)] }\n")
        var settings = servers.settings()
        (settings.user, settings.password) = ("u", "sesame")
        _ = try await servers.migrate(["a"], settings)
        let told = Mutex<[String?]>([])
        let engine = try await NATSEngine(
            settings,
            paths: ["a"],
            now: { OutboxEvent.start },
            onTrim: { error in told.withLock { $0.append(error?.message) } }
        )
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config["max_bytes"] = 20_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        var failures: [ConnectorError] = []
        for number in 1...6 {
            do throws(ConnectorError) {
                _ = try await engine.append([.numbered(number, bytes: 6_000)], to: ["a"])
                var batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
                while batch.isEmpty, !Task.isCancelled {
                    await Task.yield()
                    batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
                }
                try await engine.settle(batch, [.delivered], Attempt(at: OutboxEvent.start, failures: [nil]))
            } catch {
                failures.append(error)
            }
        }
        #expect(failures.count == 3 && failures.allSatisfy { $0.fix?.contains("max_bytes") == true })
        let words = told.withLock(\.self)
        #expect(words.count == 1)
        #expect(words.first??.contains("$JS.API.STREAM.MSG.DELETE.OUTBOX") == true)
        await engine.close()
    }

    /// Libraries before 3.8 leave out one signature in 256.
    @Test func `good credentials are never refused`() async throws {
        let servers = try await NATSServers(configuration: try text("both.conf"))
        var settings = servers.settings()
        settings.credentials = "\(Self.fixtures)/nats/first.creds"
        _ = try await servers.migrate(["a"], settings)
        for _ in 0..<1000 {
            try await NATSConnection.connect(settings) { [settings] in settings }.close()
        }
    }

    private func text(_ name: String) throws -> String {
        let file = unsafe fopen("\(Self.fixtures)/nats/\(name)", "r")
        guard let file = unsafe file else { throw ConnectorError(.missing, "there is no \(name)") }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws {
        let file = unsafe fopen(path, "w")
        guard let file = unsafe file else { throw ConnectorError(.failed, "no file for a test") }
        defer { unsafe fclose(file) }
        _ = unsafe fputs(text, file)
    }
}
