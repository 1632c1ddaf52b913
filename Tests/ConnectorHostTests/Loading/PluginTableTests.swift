// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// Tables that break the rules are refused before anything in them is called.
@Suite struct PluginTableTests {
    @Test(arguments: ["null-table", "short-table", "null-function"])
    func `a table that breaks the rules is the plugin's misbehaviour`(_ name: String) throws {
        let candidate = try PluginCatalog.candidate(path: Fixtures.misbehaving(name))
        let error = #expect(throws: ConnectorError.self) { try PluginLoader().load(candidate) }
        #expect(error?.code == .misbehaved)
    }

    @Test func `a table for an ABI version other than the manifest's is refused`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest("liar", "1.0.0")));
                CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
                    static const connector_plugin plugin = {sizeof(connector_plugin), 2, fixture_create, fixture_open,
                                                            NULL, NULL, fixture_destroy, NULL};
                    return &plugin;
                }
                """,
                into: directory,
                as: "liar"
            )
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: path))
            }
            #expect(error?.code == .unsupportedABI)
        }
    }

    #if os(Linux)
        @Test func `an address is judged by the permissions of the library or the memory region that holds it`() throws
        {
            let function = try unsafe #require(dlsym(nil, "free"))
            let code = UInt(bitPattern: function)
            #expect(LoadedLibraries.cover(code..<(code + 1), flags: ELFConstant.executable))
            #expect(!LoadedLibraries.cover(code..<(code + 1), flags: ELFConstant.writable))
            #expect(!LoadedLibraries.cover(code..<(code + 1 << 40), flags: ELFConstant.readable))
            #expect(!LoadedLibraries.cover(0..<1, flags: 0))
            var local = 0
            unsafe withUnsafeMutableBytes(of: &local) { bytes in
                let stack = UInt(bitPattern: bytes.baseAddress)
                #expect(!LoadedLibraries.cover(stack..<(stack + 8), flags: ELFConstant.readable))
                #expect(MemoryMap.allows(stack, count: 8, ELFConstant.readable))
                #expect(!MemoryMap.allows(stack, count: 1, ELFConstant.executable))
            }
            #expect(!MemoryMap.allows(.max, count: 8, ELFConstant.readable))
            #expect(!MemoryMap.allows(0, count: 1, ELFConstant.readable))
        }
    #endif

    @Test func `a plugin that crashes in its constructor takes the process down, as documented`() async {
        await #expect(processExitsWith: .failure) {
            _ = try? PluginLoader().load(PluginCatalog.candidate(path: Fixtures.misbehaving("crashes-in-constructor")))
        }
    }
}
