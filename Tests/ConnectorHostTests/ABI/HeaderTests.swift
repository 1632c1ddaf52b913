// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The headers of the ABI compile without a warning wherever plugins are written.
@Suite struct HeaderTests {
    /// A compiler with a language.
    struct Dialect: Sendable, CustomTestStringConvertible {
        var compiler: String
        var language: String
        var standard: String
        var testDescription: String { "\(compiler) \(standard)" }
    }

    static let dialects = ["gcc", "clang"].flatMap { compiler in
        [("c", "c99"), ("c", "c11"), ("c++", "c++17")].map { Dialect(compiler: compiler, language: $0, standard: $1) }
    }

    private static var headers: String { "\(Fixtures.sources.parentPath.parentPath)/Sources/CConnector/include" }

    @Test(.enabled("a compiler is not installed") { Fixtures.has("gcc") && Fixtures.has("clang") }, arguments: dialects)
    func `every header compiles alone and together, with every warning an error`(_ dialect: Dialect) throws {
        try Fixtures.withDirectory { directory in
            #expect(
                Fixtures.run("cd '\(Self.headers)' && find . -name '*.h' | sed 's,^./,,' > '\(directory)/list'") == 0
            )
            let list = try String(decoding: Fixtures.bytes("\(directory)/list"), as: UTF8.self)
            let headers = list.split(separator: "\n").map(String.init)
            #expect(headers.count >= 9)
            // All warnings, on a translation unit that embeds a manifest too.
            let flags = "-std=\(dialect.standard) -Wall -Wextra -pedantic -Werror -fsyntax-only -x \(dialect.language)"
            for header in headers + ["connector/connector.h"] {
                let source = """
                    #include <\(header)>
                    #include <connector/connector.h>
                    CONNECTOR_MANIFEST({"manifest": 1, "id": "header"});
                    CONNECTOR_EXPORT int32_t header_test(const connector_plugin *plugin);
                    CONNECTOR_EXPORT int32_t header_test(const connector_plugin *plugin) {
                        return CONNECTOR_HAS_FIELD(connector_plugin, cancel, plugin) ? CONNECTOR_OK : CONNECTOR_FAILED;
                    }

                    """
                try Fixtures.write(Array(source.utf8), to: "\(directory)/unit")
                #expect(
                    Fixtures.run("\(dialect.compiler) \(flags) -I'\(Self.headers)' '\(directory)/unit'") == 0,
                    "\(header)"
                )
            }
        }
    }

    @Test(.enabled("a compiler is not installed") { Fixtures.has("gcc") && Fixtures.has("clang") }, arguments: dialects)
    func `every header defines the constants that it mentions`(_ dialect: Dialect) throws {
        try Fixtures.withDirectory { directory in
            // A constant has a size; a macro with arguments, one that qualifies a type, and the start of a name have none.
            let script = """
                cd '\(Self.headers)' && for header in $(find . -name '*.h' | sed 's,^./,,'); do
                    echo "#include <$header>" > '\(directory)/unit'
                    grep -o 'CONNECTOR_[A-Z0-9_]*[A-Z0-9]\\b' "$header" | sort -u \
                        | grep -v -E '_(H|NONNULL|NULLABLE|DECLS|EXPORT|HAS_FIELD|STATUSES|STATUS_CONSTANT|LAYOUT(_SIZE|_OFFSET)?|MANIFEST(_TEXT|_UNTERMINATED)?)$' \
                        | sed 's/.*/int size_of_&(void); int size_of_&(void) { return (int)sizeof(&); }/' >> '\(directory)/unit'
                    \(dialect.compiler) -std=\(dialect.standard) -Wall -Wextra -pedantic -Werror -fsyntax-only \
                        -x \(dialect.language) -I. '\(directory)/unit' || exit 1
                done
                """
            #expect(Fixtures.run(script) == 0)
        }
    }

    @Test func `the headers still describe the layout that was frozen`() throws {
        let layout = "\(Fixtures.sources)/frozen-v1/layout.c"
        for headers in ["\(Fixtures.sources)/frozen-v1", Self.headers] {
            #expect(Fixtures.run("cc -std=c11 -fsyntax-only -I'\(headers)' '\(layout)'") == 0)
        }
    }
}
