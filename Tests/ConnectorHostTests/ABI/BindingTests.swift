// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorPlatform

/// What there is for authors in C, C++ and Rust, beside the ABI.
@Suite(.serialized) struct BindingTests {
    private static let root = Fixtures.sources.parentPath.parentPath

    @Test(arguments: [
        ("author.c", "cc -std=c99"), ("author.c", "cc -std=c99 -DDECIMAL_COMMA"), ("author.c", "c++ -std=c++17 -x c++"),
        ("classes.cpp", "c++ -std=c++17"),
    ])
    func `the helpers read, write and explain, and never step beyond a text`(_ file: String, _ compiler: String) throws
    {
        try Fixtures.withDirectory { directory in
            let flags =
                "-g -O1 -Wall -Wextra -pedantic -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
            let include = "-I'\(Self.root)/Sources/CConnector/include'"
            let source = "'\(Fixtures.sources)/authors/\(file)'"
            #expect(Fixtures.run("\(compiler) \(flags) \(include) \(source) -o '\(directory)/author'") == 0)
            #expect(Fixtures.run("'\(directory)/author'") == 0)
        }
    }

    @Test(arguments: ["rust", "swift"])
    func `the layout of the structs comes from one table`(_ language: String) throws {
        let files = [
            "rust": "Bindings/rust/src/sys/layout.rs", "swift": "Tests/ConnectorHostTests/ABI/LayoutTests.swift",
        ]
        let file = try #require(files[language])
        #expect(
            Fixtures.run("'\(Self.root)/scripts/layout' \(language) | cmp - '\(Self.root)/\(file)'") == 0,
            "make layout"
        )
    }

    @Test(arguments: [
        ("c", "gcc -std=c99"), ("c", "clang -std=c99"), ("cpp", "g++ -std=c++17"), ("cpp", "clang++ -std=c++17"),
        ("cpp", "g++ -std=c++20 -fno-exceptions -fno-rtti"),
    ])
    func `the examples compile without a warning, and conform`(_ language: String, _ compiler: String) async throws {
        guard Fixtures.has(compiler.split(separator: " ").first.map(String.init) ?? "") else { return }
        try await Fixtures.withDirectory { directory in
            let image = "\(directory)/librates.so"
            let flags = "-Wall -Wextra -pedantic -Werror -fPIC -shared -fvisibility=hidden"
            let include = "-I'\(Self.root)/Sources/CConnector/include'"
            let source = "'\(Self.root)/Examples/adapter/\(language)/rates.\(language)'"
            try #require(Fixtures.run("\(compiler) \(flags) \(include) \(source) -o '\(image)'") == 0)
            // Nobody listens there; the suite makes up an App ID.
            let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
            let findings = await PluginConformance.check(image, options: options)
            #expect(findings.isEmpty, "\(findings)")
        }
    }

    @Test(.enabled("cargo is not installed") { Fixtures.has("cargo") })
    func `the crate passes its tests, and the example in Rust conforms without unsafe code`() async throws {
        let cargo = "env -u MAKEFLAGS CARGO_TARGET_DIR='\(Self.root)/.build-rust' RUSTFLAGS='-D warnings' cargo"
        #expect(Fixtures.run("cd '\(Self.root)/Bindings/rust' && \(cargo) test --quiet --offline > /dev/null") == 0)
        let example = "\(Self.root)/Examples/adapter/rust"
        try #require(Fixtures.run("cd '\(example)' && \(cargo) build --quiet --offline --release") == 0)
        let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
        let findings = await PluginConformance.check(
            "\(Self.root)/.build-rust/release/librates_rust.so",
            options: options
        )
        #expect(findings.isEmpty, "\(findings)")
    }
}
