// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorManifest

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Images that the dynamic linker would load, but that would end the process or cannot be what was meant.
@Suite struct RefusedImageTests {
    private func refusal(_ source: String, flags: String = "") throws -> ConnectorError? {
        try Fixtures.withDirectory { directory in
            let text =
                "#include \"fixture.h\"\nCONNECTOR_MANIFEST(\(Fixtures.manifest("refused", "1.0.0")));\n\(source)\n"
            let path = try Fixtures.compile(
                text + "FIXTURE_PLUGIN(fixture_open)\n",
                into: directory,
                as: "refused",
                flags: flags
            )
            let inspection = PluginInspection(path: path).problems
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: path))
            }
            #expect(inspection.contains { $0.code == error?.code && $0.message == error?.message })
            return error
        }
    }

    @Test(arguments: ["__asan_init", "__tsan_init"]) func `code for a sanitizer is refused by its name`(
        _ symbol: String
    ) throws {
        // A process that runs under the sanitizer takes such code.
        guard unsafe dlsym(nil, symbol) == nil else { return }
        let error = try refusal(
            "extern void \(symbol)(void); CONNECTOR_EXPORT void *used(void) { return (void *)\(symbol); }"
        )
        #expect(error?.code == .loadFailed)
        #expect(error?.message.contains("Sanitizer, which this process was not started with") == true)
        let library = symbol == "__asan_init" ? "asan" : "tsan"
        #expect(error?.fix?.contains("LD_PRELOAD=$(clang -print-file-name=libclang_rt.\(library)-") == true)
    }

    @Test(
        .enabled("gcc has no AddressSanitizer here") {
            Fixtures.has("gcc") && Fixtures.run("test -e \"$(gcc -print-file-name=libasan.so)\"") == 0
        },
        .enabled(if: !Sanitizer.isPresent, "the program has a sanitizer of its own")
    )
    func `a plugin built with AddressSanitizer opens in a program started as the advice says`() throws {
        try Fixtures.withDirectory { directory in
            let source = """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest("checked", "1.0.0")));
                FIXTURE_PLUGIN(fixture_open)
                """
            try Fixtures.write(Array(source.utf8), to: "\(directory)/checked.c")
            let include = "\(Fixtures.sources.parentPath.parentPath)/Sources/CConnector/include"
            #expect(
                Fixtures.run(
                    "cd '\(directory)' && gcc -fsanitize=address -shared -fPIC -I'\(include)' -I'\(Fixtures.sources)' checked.c -o libchecked.so"
                ) == 0
            )
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: "\(directory)/libchecked.so"))
            }
            let fix = try #require(error?.fix)
            let settings = try #require(
                fix.split(separator: ", ").first { $0.contains("LD_PRELOAD=") }
            )
            let configuration = #"{"version": 1, "connectors": [{"name": "a", "plugin": "./libchecked.so"}]}"#
            try Fixtures.write(Array(configuration.utf8), to: "\(directory)/connectors.json")
            let status = Fixtures.run(
                "cd '\(directory)' && XDG_STATE_HOME='\(directory)' \(settings) '\(ImageMutationTests.program)' status > log 2>&1"
            )
            let log = String(decoding: try Fixtures.bytes("\(directory)/log"), as: UTF8.self)
            #expect(status == 0, "\(log)")
        }
    }

    @Test func `a library that forbids being opened is refused`() throws {
        #expect(try refusal("", flags: "-Wl,-z,nodlopen")?.message.contains("DF_1_NOOPEN") == true)
    }

    @Test func `a library that makes stacks executable is refused`() throws {
        #expect(try refusal("", flags: "-Wl,-z,execstack")?.message.contains("executable stacks") == true)
    }

    @Test(.enabled("ld.lld is not installed") { Fixtures.has("ld.lld") })
    func `packed relocations are refused without the version that the C library wants for them`() throws {
        let error = try refusal("", flags: "-fuse-ld=lld -Wl,--pack-dyn-relocs=relr")
        #expect(error?.code == .loadFailed)
        #expect(error?.message.contains("does not need GLIBC_ABI_DT_RELR of libc.so.6") == true)
        #expect(error?.fix?.contains("-z pack-relative-relocs") == true)
    }

    /// What is done to an undefined weak symbol of an image, and whether the linker then loads it without harm.
    struct Hidden: Sendable, CustomTestStringConvertible {
        var name: String
        /// Bits of `st_info` to set.
        var info: UInt8 = 0
        /// The visibility.
        var other: UInt8 = 2
        /// What `st_value` becomes.
        var value: UInt8 = 0
        var isSound: Bool

        var testDescription: String { "\(name), \(info), \(other), \(value)" }
    }

    @Test(arguments: [
        Hidden(name: "__start_none", isSound: true), Hidden(name: "__stop_none", isSound: true),
        Hidden(name: "other", isSound: false), Hidden(name: "__start_none", info: 6, isSound: false),
        Hidden(name: "__start_none", other: 1, isSound: false), Hidden(name: "__start_none", value: 8, isSound: false),
    ])
    func `only the bounds of a section that an image lacks may be hidden and undefined, as gold leaves them`(
        _ hidden: Hidden
    ) throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest("bounds", "1.0.0")));
                extern const char __start_none[] __attribute__((weak)), __stop_none[] __attribute__((weak));
                extern const char other[] __attribute__((weak));
                CONNECTOR_EXPORT const char *bounds(int which) {
                    return which == 0 ? __start_none : which == 1 ? __stop_none : other;
                }
                FIXTURE_PLUGIN(fixture_open)
                """,
                into: directory,
                as: "bounds"
            )
            var bytes = try Fixtures.bytes(path)
            let image = try ELFImage(ImageBytes(copying: bytes, path: path))
            let dynamic = try #require(DynamicSection(image))
            let (symbols, strings) = (try #require(dynamic.symbols), try #require(dynamic.strings))
            let index = try #require(
                (1..<image.symbolCount(dynamic)).first { index in
                    image.symbol(at: index, dynamic).flatMap { image.bytes.text(at: strings + $0.name) } == hidden.name
                }
            )
            let symbol = try #require(image.symbol(at: index, dynamic))
            #expect(symbol.section == 0 && symbol.info == 2 << 4)
            bytes[symbols + index * 24 + 4] |= hidden.info
            bytes[symbols + index * 24 + 5] = hidden.other
            bytes[symbols + index * 24 + 8] = hidden.value
            try Fixtures.write(bytes, to: path)
            let candidate = try PluginCatalog.candidate(path: path)
            if hidden.isSound {
                _ = try PluginLoader().load(candidate)
                #expect(PluginInspection(path: path).problems.isEmpty)
            } else {
                let error = #expect(throws: ConnectorError.self) { try PluginLoader().load(candidate) }
                #expect(error?.code == .notELF && error?.message.contains("is undefined") == true)
            }
        }
    }

    #if arch(x86_64)
        @Test func `a library that does not say what stacks it needs is refused as making them executable`() throws {
            try Fixtures.withDirectory { directory in
                var bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
                let image = try ELFImage(ImageBytes(copying: bytes, path: "sync.so"))
                let stack = try #require(image.segments.firstIndex { $0.type == ELFConstant.stack })
                // Makes it PT_NULL, which is ignored.
                for index in 0..<4 { bytes[image.segmentTable + stack * 56 + index] = 0 }
                let path = "\(directory)/libsync.so"
                try Fixtures.write(bytes, to: path)
                let error = #expect(throws: ConnectorError.self) {
                    try PluginLoader().load(PluginCatalog.candidate(path: path))
                }
                #expect(error?.message.contains("executable stacks") == true)
            }
        }
    #endif

    @Test func `an entry that is not a function is refused`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                "#include \"fixture.h\"\nCONNECTOR_MANIFEST(\(Fixtures.manifest("data", "1.0.0")));\n"
                    + "CONNECTOR_EXPORT int fixture_entry = 7;\n",
                into: directory,
                as: "data"
            )
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: path))
            }
            #expect(error?.code == .symbolAbsent)
            #expect(error?.message.contains("not a function") == true)
        }
    }

    @Test func `a library that would be loaded with the plugin is examined before any of its code runs`() throws {
        try Fixtures.withDirectory { directory in
            _ = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) int answer(void) { return 42; }\n",
                into: directory,
                as: "stack",
                flags: "-Wl,-z,execstack"
            )
            let path = try Fixtures.compile(
                "#include \"fixture.h\"\nCONNECTOR_MANIFEST(\(Fixtures.manifest("needing", "1.0.0")));\n"
                    + "extern int answer(void); CONNECTOR_EXPORT int used(void) { return answer(); }\n"
                    + "FIXTURE_PLUGIN(fixture_open)\n",
                into: directory,
                as: "needing",
                flags: "-Wl,--no-as-needed -L'\(directory)' -l:libstack.so -Wl,-rpath,'$ORIGIN'"
            )
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: path))
            }
            #expect(error?.message.contains("executable stacks") == true)
            #expect(PluginInspection(path: path).problems.contains { $0.message == error?.message })
        }
    }
}
