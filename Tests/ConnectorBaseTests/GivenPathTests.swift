// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorBase

@Suite struct GivenPathTests {
    @Test(arguments: ["/srv/shop", "/srv/shop/inner", "/"])
    func `a relative path is absolute where it is opened, and as it was given where it is shown`(_ directory: String) {
        for given in ["Plugins/a.so", "a.so", "./a.so", "../a.so", "x/./a.so"] {
            let path = GivenPath.rooted(given, in: directory)
            #expect(path == "\(directory)/./\(given)")
            #expect("no \(path), and no \(path).json".withGivenPaths == "no \(given), and no \(given).json")
            #expect(path.withUnmarkedPaths == "\(directory)/\(given)")
        }
    }

    @Test func `an absolute path stays as it is`() {
        #expect(GivenPath.rooted("/opt/./a.so", in: "/srv/shop") == "/opt/./a.so")
        #expect("/opt/./a.so".withGivenPaths == "/opt/./a.so")
        #expect("/opt/./a.so".withUnmarkedPaths == "/opt/./a.so")
    }

    @Test func `a path that goes on like a working directory stays as it is`() {
        let path = GivenPath.rooted("a.so", in: "/srv/alike")
        #expect(path.withGivenPaths == "a.so")
        for other in ["/mnt\(path)", "/mnt/\(path)", "mnt-\(path)", "/mnt/é\(path)"] {
            #expect("no \(other)".withGivenPaths == "no \(other)")
            #expect(other.withUnmarkedPaths == other)
        }
        #expect("file:\(path):1, \"\(path)\"".withGivenPaths == "file:a.so:1, \"a.so\"")
    }

    @Test func `errors and positions show paths as they were given`() {
        let path = GivenPath.rooted("connectors.json", in: "/srv/errors")
        let error = ConnectorError(
            .unreadable,
            "\(path) cannot be read",
            fix: "chmod u+r \(path)",
            position: FilePosition(file: path, line: 3, column: 5),
            cause: "open: \(path)"
        )
        let expected = "connectors.json:3:5: connectors.json cannot be read [unreadable]; chmod u+r connectors.json"
        #expect(error.description == expected)
        #expect(error.cause == "open: connectors.json")
        let text = JSONText([], file: path)
        #expect(text.file == "connectors.json" && text.path == path)
    }
}
