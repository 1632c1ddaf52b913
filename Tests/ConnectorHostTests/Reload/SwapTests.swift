// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Putting another image in place.
@Suite(.timeLimit(.minutes(5))) struct SwapTests {
    private typealias Variant = ImageWorkspace.Variant

    /// What stands in the directory of the plugins.
    private func files(_ workspace: ImageWorkspace) -> [String] { workspace.directory.names(in: "/plugins") }

    @Test func `an image is planned, put in place with the mode of the old one, and taken up`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        unsafe chmod(workspace.image, 0o640)
        let host = try await workspace.host()
        let file = try workspace.build(Variant(answer: 2, version: "0.5.0"))
        let plan = try await host.plan(swapping: "gate", with: file)
        #expect(plan["gate"]?.fields.map(\.name) == ["version", "image"])
        #expect(plan["gate"]?.image?.path == workspace.image)
        #expect(try await host.plan().isEmpty)
        #expect(try await host.answer() == 1)
        let swapped = await host.swap("gate", with: file, ifStill: plan.basis)
        #expect(swapped.isActive, "\(swapped.errors)")
        #expect(try await host.answer() == 2)
        #expect(try Fixtures.bytes(workspace.image) == Fixtures.bytes(file))
        #expect(workspace.directory.permissions(of: "plugins/libswapped.so") == 0o640)
        #expect(files(workspace) == ["libswapped.so"])
        #expect(try await host.plan().isEmpty)
        await host.close()
    }

    @Test func `an invalid image is not put in place, and the error names it`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let bytes = try Fixtures.bytes(workspace.image)
        let truncated = "\(workspace.directory.path)/build/truncated.so"
        try Fixtures.write(Array(try Fixtures.bytes(workspace.build(Variant(answer: 2))).dropLast(4000)), to: truncated)
        let other = try workspace.build(Variant(id: "other"))
        let unresolved = try workspace.build(
            Variant(code: "extern int nowhere(void); int swapped_call(void) { return nowhere(); }")
        )
        for (file, code) in [
            (truncated, ConnectorError.Code.truncated), (other, .conflict), (Fixtures.broken("not-elf"), .notELF),
            (Fixtures.broken("no-manifest"), .noManifest), ("\(workspace.directory.path)/absent.so", .notFound),
        ] {
            let refused = await host.swap("gate", with: file)
            #expect(!refused.isActive && refused.errors.first?.code == code, "\(file): \(refused.errors)")
            #expect(refused.errors.first?.message.contains(file) == true, "\(refused.errors)")
            #expect(!refused.errors.description.contains(".next"))
            if code == .noManifest {
                #expect(refused.errors.first?.fix?.contains("swapped.connector.json") == true, "\(refused.errors)")
            }
        }
        // If only the dynamic linker finds the fault, the old image is put back.
        let refused = await host.swap("gate", with: unresolved)
        #expect(refused.phase == .load && refused.errors.first?.code == .missingSymbol, "\(refused.errors)")
        #expect(try Fixtures.bytes(workspace.image) == bytes && files(workspace) == ["libswapped.so"])
        #expect(host.report.configuration?.differs == false && host.report["gate"]?.generation == 1)
        #expect(try await host.answer() == 1)
        #expect(await host.swap("nobody", with: other).errors.first?.code == .unknownConnector)
        let cut = "\(try workspace.build(Variant(answer: 2)))\u{0}x"
        #expect(await host.swap("gate", with: cut).errors.first?.code == .invalidValue)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `an image that would not load in its place has no plan`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let unresolved = try workspace.build(
            Variant(code: "extern int nowhere(void); int swapped_call(void) { return nowhere(); }")
        )
        let absent = "libnothere.so.1"
        let dependent = try workspace.build(Variant(flags: "-Wl,--no-as-needed -Wl,-F,\(absent)"))
        for (file, code) in [(unresolved, ConnectorError.Code.missingSymbol), (dependent, .missingDependency)] {
            let errors = try await #require(throws: ConfigurationErrors.self) {
                try await host.plan(swapping: "gate", with: file)
            }
            #expect(errors.errors.map(\.code) == [code], "\(errors)")
            #expect(errors.errors.first?.message.contains(file) == true, "\(errors)")
        }
        #expect(files(workspace) == ["libswapped.so"])
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `an image whose instance does not open is replaced by the old one again`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let bytes = try Fixtures.bytes(workspace.image)
        let file = try workspace.build(Self.refusing)
        let refused = await host.swap("gate", with: file)
        #expect(refused.phase == .open && refused.errors.first?.message.contains("it does not open") == true)
        #expect(try Fixtures.bytes(workspace.image) == bytes && files(workspace) == ["libswapped.so"])
        #expect(host.report.configuration?.differs == false)
        #expect(try await host.plan().isEmpty)
        #expect(try await host.answer() == 1)
        // The same holds for an optional connector, whose failure does not fail the reload.
        workspace.configure(settings: #", "required": false"#)
        #expect(await host.reload().isActive)
        let borne = await host.swap("gate", with: file)
        #expect(borne.phase == .open && borne.rolledBack == ["gate"])
        #expect(borne.errors.first?.message.contains("it does not open") == true)
        #expect(try Fixtures.bytes(workspace.image) == bytes)
        #expect(try await host.plan().isEmpty)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `an image that would not be loaded in its place is refused`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        let lower = try workspace.build(Variant(answer: 1, version: "1.5.0"))
        try #require(unsafe rename(lower, "\(workspace.directory.path)/plugins/liblower.so") == 0)
        let host = try await workspace.host()
        #expect(try await host.answer() == 2)
        let lowest = try workspace.build(Variant(answer: 3, version: "1.0.0"))
        let refused = await host.swap("gate", with: lowest)
        #expect(refused.errors.first?.code == .conflict, "\(refused.errors)")
        #expect(refused.errors.first?.message.contains("higher than 1.0.0") == true)
        workspace.configure(settings: #", "version": "2.0.0""#)
        #expect(await host.reload().isActive)
        let pinned = await host.swap("gate", with: lowest)
        #expect(pinned.errors.first?.message.contains("asks for version 2.0.0") == true, "\(pinned.errors)")
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test
    func `an image is put in place although a higher version is beside the program, where its id is not looked for`()
        async throws
    {
        let workspace = ImageWorkspace()
        try workspace.install()
        let bundled = "\(workspace.directory.path)/bundled"
        unsafe mkdir(bundled, 0o755)
        let higher = try workspace.build(Variant(answer: 3, version: "3.0.0"))
        try #require(unsafe rename(higher, "\(bundled)/libswapped.so") == 0)
        let host = try await workspace.host(pluginDirectories: [bundled])
        #expect(try await host.answer() == 1)
        let file = try workspace.build(Variant(answer: 2, version: "0.5.0"))
        #expect(try await host.plan(swapping: "gate", with: file)["gate"] != nil)
        let swapped = await host.swap("gate", with: file)
        #expect(swapped.isActive, "\(swapped.errors)")
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `another signature is refused while a typed handle is held`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        let host = try await workspace.host()
        let answer = try unsafe host.gate("gate").typed("answer", "() -> i64", as: Answer.self)
        let file = try workspace.build(Variant(answer: 2, signature: "() -> u64"))
        let refused = await host.swap("gate", with: file)
        #expect(refused.phase == .plan && refused.errors.first?.code == .signatureMismatch, "\(refused.errors)")
        #expect(try await host.plan().isEmpty)
        unsafe withExtendedLifetime(answer) {}
        await host.close()
    }

    private typealias Answer =
        @convention(c) (OperationFunction.Instance, UnsafeMutablePointer<Int64>, OperationFunction.Failure) -> Int32

    /// An image whose instances do not open.
    private static let refusing = Variant(
        answer: 2,
        code: """
            static int32_t refuse(void *instance, const connector_call *call, connector_error *error) {
                (void)instance; (void)call;
                return fixture_fail(error, CONNECTOR_FAILED, "it does not open");
            }
            """,
        open: "refuse"
    )

    @Test func `putting an image back leaves the other faults of the file in the report`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install()
        func other(_ opens: String) -> String {
            let config = opens.isEmpty ? "{}" : #"{"opens": "\#(opens)"}"#
            return #"{"name": "other", "plugin": "\#(Fixtures.contract("calls"))", "required": false, "heal": "off", "#
                + #""config": \#(config)}"#
        }
        workspace.configure(other(""))
        let host = try await workspace.host()
        workspace.configure(other("fails"))
        #expect(await host.reload().rolledBack == ["other"])
        let file = try workspace.build(Self.refusing)
        #expect(await host.swap("gate", with: file).phase == .open)
        #expect(host.report.configuration?.errors.map(\.connector) == ["other"])
        workspace.configure(other("fails"), settings: #", "required": false"#)
        #expect(await host.reload().isActive)
        #expect(await host.swap("gate", with: file).rolledBack == ["gate", "other"])
        #expect(host.report.configuration?.errors.map(\.connector) == ["other"])
        await host.close()
    }

    @Test func `a file that is edited between the check and the reload is applied by the next one`() async throws {
        let workspace = ImageWorkspace()
        let directory = workspace.directory.path
        let manifest = #", "configuration": {"key": {"type": "string", "secret": true}}"#
        let settings = #", "config": {"key": {"secret": {"exec": ["sh", "\#(directory)/key"]}}}"#
        // Reading the secret puts the edited file in place, once it is there.
        let script = "mv '\(directory)/edited' '\(directory)/connectors.json'; echo key"
        workspace.directory.write(Array(script.utf8), to: "key")
        try workspace.install(Variant(manifest: manifest))
        workspace.configure(settings: settings)
        let host = try await workspace.host()
        let earlier = try Fixtures.bytes("\(directory)/connectors.json")
        let added = #"{"name": "added", "plugin": "\#(Fixtures.contract("calls"))"}"#
        workspace.configure(added, settings: settings)
        try #require(unsafe rename("\(directory)/connectors.json", "\(directory)/edited") == 0)
        workspace.directory.write(earlier, to: "connectors.json")
        let swapped = await host.swap("gate", with: try workspace.build(Variant(answer: 2, manifest: manifest)))
        #expect(swapped.isActive, "\(swapped.errors)")
        #expect(try await host.answer() == 2)
        #expect(try Fixtures.bytes("\(directory)/connectors.json") != earlier, "it was edited")
        #expect(host.report.gates.map(\.path) == ["gate"])
        #expect(await host.reload().isActive)
        #expect(host.report.gates.map(\.path) == ["gate", "added"])
        await host.close()
    }

    @Test func `a composite has no image to replace`() async throws {
        let test = try await TestHost.opened(TestHost.composite("group", "all", TestHost.leaf("gate")))
        let refused = await test.host.swap("group", with: Fixtures.contract("calls"))
        #expect(refused.phase == .read && refused.errors.first?.code == .unsupported)
        await test.host.close()
    }
}
