// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Another image of a plugin is a change like any other.
@Suite(.timeLimit(.minutes(5))) struct ImageReloadTests {
    private typealias Variant = ImageWorkspace.Variant

    @Test(arguments: ["1.1.0", "0.9.0", "1.0.0"])
    func `a higher, a lower and the same version with other bytes all take over`(_ version: String) async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        #expect(try await host.answer() == 1)
        try workspace.install(Variant(answer: 2, version: version))
        let plan = try await host.plan()
        let change = try #require(plan["gate"])
        #expect(change.kind == .changed && change.cost == .opensBeside)
        #expect(change.fields.map(\.name) == (version == "1.0.0" ? ["image"] : ["version", "image"]))
        #expect(change.image?.path == workspace.image && change.image?.size ?? 0 > 0)
        let applied = await host.apply(plan)
        #expect(applied.isActive, "\(applied.errors)")
        #expect(try await host.answer() == 2)
        #expect(host.report["gate"]?.plugin?.version.description == version && host.report["gate"]?.generation == 2)
        #expect(host.report.images?.count ?? 0 >= 2)
        #expect(host.report.unusedImagesText?.contains("until the process ends") == true)
        let held = try #require(host.heldImages.first { $0.path == workspace.image })
        #expect(held.images.map(\.connectors) == [[], ["gate"]])
        #expect(held.text.hasPrefix("2 images in memory") && held.text.hasSuffix("1 of them in no use"))
        #expect(HeldImages(json: held.json) == held)
        #expect(await host.reload().plan?.isEmpty == true)
        await host.close()
    }

    @Test func `a leaf that moves with its composite keeps its image`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        func configure(_ name: String, _ was: String = "") {
            let gate = #"{"name": "gate", "plugin": "swapped", "probe": "off", "heal": "off"}"#
            let group = #"{"name": "\#(name)", "policy": "all", "connectors": [\#(gate)]\#(was)}"#
            workspace.directory.write(
                Array(#"{"version": 1, "plugins": ["plugins"], "connectors": [\#(group)]}"#.utf8),
                to: "connectors.json"
            )
        }
        configure("old")
        let host = try await workspace.host()
        configure("new", #", "was": "old""#)
        let same = try #require(try await host.plan()["new/gate"])
        #expect(same.was == "old/gate" && same.fields.isEmpty && same.image == nil, "\(same)")
        try workspace.install(Variant(answer: 2))
        let other = try #require(try await host.plan()["new/gate"])
        #expect(other.fields.map(\.name) == ["image"] && other.fields.first?.from != nil, "\(other)")
        await host.close()
    }

    @Test func `a plan that was made for another image is refused`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        try workspace.install(Variant(answer: 2))
        let plan = try await host.plan()
        try workspace.install(Variant(answer: 3))
        let refused = await host.apply(plan)
        #expect(refused.phase == .plan && refused.errors.first?.code == .conflict)
        #expect(refused.errors.first?.message.contains(workspace.image) == true)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `a file that is rewritten with the same bytes changes nothing`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let bytes = try Fixtures.bytes(workspace.image)
        try Fixtures.write(bytes, to: "\(workspace.image).new")
        try workspace.place("\(workspace.image).new")
        #expect(try await host.plan().isEmpty)
        #expect(await host.reload().isActive)
        #expect(host.report["gate"]?.generation == 1)
        await host.close()
    }

    @Test(arguments: [0.3, 0.6, 0.95])
    func `an image that is written halfway is refused, and nothing changes`(_ part: Double) async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let bytes = try Fixtures.bytes(try workspace.build(Variant(answer: 2)))
        let half = bytes.prefix(Int(Double(bytes.count) * part))
        try Fixtures.write(Array(half), to: "\(workspace.image).new")
        try workspace.place("\(workspace.image).new")
        let refused = await host.reload()
        #expect(!refused.isActive && !refused.errors.isEmpty)
        #expect(host.report.configuration?.differs == true && host.report["gate"]?.generation == 1)
        #expect(try await host.answer() == 1)
        // The rest arrives.
        try Fixtures.write(bytes, to: workspace.image)
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `an image that is overwritten in place harms no instance, and is taken up once it is whole`()
        async throws
    {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let bytes = try Fixtures.bytes(try workspace.build(Variant(answer: 2)))
        // As cp(1) does: the same file, shorter at first.
        try Fixtures.write([], to: workspace.image)
        #expect(await !host.reload().isActive)
        #expect(try await host.answer() == 1)
        try Fixtures.write(bytes, to: workspace.image)
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    // MARK: Signatures

    @Test func `another signature is refused while a typed handle is held, and the error names both`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        do {
            let answer = try unsafe host.gate("gate").typed("answer", "() -> i64", as: TestInteger.self)
            try workspace.install(Variant(answer: 2, version: "2.0.0", signature: "() -> u64"))
            let refused = await host.reload()
            #expect(refused.phase == .plan)
            let error = try #require(refused.errors.first)
            #expect(error.code == .signatureMismatch && error.connector == "gate")
            #expect(error.message.contains("answer() -> i64 has the signature () -> u64"))
            #expect(error.message.contains("a typed handle that the application holds"))
            let value = try await unsafe answer.withLease { lease throws(ConnectorError) in
                var value: Int64 = 0
                try unsafe lease.call { unsafe $0($1, &value, $2) }
                return value
            }
            #expect(value == 1)
        }
        // Once it is released, nobody breaks.
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `an operation of another capability does not take the place of one that a typed handle calls`()
        async throws
    {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let answer = try unsafe host.gate("gate").typed("answer", "() -> i64", as: TestInteger.self)
        try workspace.install(
            Variant(
                answer: 2,
                version: "2.0.0",
                code: """
                    CONNECTOR_EXPORT int32_t swapped_count(void *instance, uint64_t *result, connector_error *error) {
                        (void)instance;
                        (void)error;
                        *result = 2;
                        return CONNECTOR_OK;
                    }
                    """,
                earlierCapabilities: #""count/1": {"answer": {"symbol": "swapped_count", "signature": "() -> u64"}},"#
            )
        )
        let refused = await host.reload()
        #expect(refused.phase == .plan && refused.errors.first?.code == .signatureMismatch)
        #expect(refused.errors.first?.message.contains("answer() -> i64 has the signature () -> u64") == true)
        let value = try await unsafe answer.withLease { lease throws(ConnectorError) in
            var value: Int64 = 0
            try unsafe lease.call { unsafe $0($1, &value, $2) }
            return value
        }
        #expect(value == 1)
        await host.close()
    }

    private typealias TestInteger =
        @convention(c) (OperationFunction.Instance, UnsafeMutablePointer<Int64>, OperationFunction.Failure) -> Int32

    @Test func `another signature is refused while a connector uses the capability, and the error names it`()
        async throws
    {
        let workspace = ImageWorkspace()
        try workspace.install()
        let user = try workspace.build(
            Variant(id: "user", manifest: #", "uses": {"numbers": {"capability": "number/1"}}"#)
        )
        try #require(unsafe rename(user, "\(workspace.directory.path)/plugins/libuser.so") == 0)
        workspace.configure(
            #"{"name": "user", "plugin": "user", "with": {"numbers": "gate"}, "probe": "off", "heal": "off"}"#
        )
        let host = try await workspace.host()
        #expect(host.report.isReady)
        try workspace.install(Variant(answer: 2, version: "2.0.0", signature: "() -> u64"))
        let refused = await host.reload()
        #expect(refused.phase == .plan && refused.errors.first?.code == .signatureMismatch)
        #expect(refused.errors.first?.message.contains(#"user, which uses gate as "numbers""#) == true)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `a gate that takes up another image while it is closed has no digest of the earlier one`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        #expect(host.report["gate"]?.plugin?.sha256 != nil)
        try await host.close("gate")
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        let plugin = try #require(host.report["gate"]?.plugin)
        #expect(plugin.version.description == "2.0.0" && plugin.sha256 == nil)
        #expect(try await host.plan().isEmpty)
        try await host.open("gate")
        #expect(host.report["gate"]?.plugin?.sha256 != nil)
        #expect(try await host.answer() == 2)
        await host.close()
    }
}
