// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// `scripts/run-tests` on a command that only writes what a run of tests does.
@Suite struct TestScriptTests {
    private let workspace: Workspace

    /// What every run below begins with: names that sound like failures.
    private static let names = """
        \u{1B}[90m◇\u{1B}[0m Test case passing 1 argument words → "was ended by signal 9" to "a command fails" started.
        \u{1B}[90m◇\u{1B}[0m Test "a Fatal error is shown" started.
        \u{1B}[92m✔\u{1B}[0m Test "a Fatal error is shown" passed after 0.001 seconds.

        """

    init() throws {
        workspace = try Workspace()
    }

    /// Runs a command that writes one text at first, and another one with the filter of a second run.
    ///
    /// - Returns: The status, and what the script wrote.
    private func run(
        first: String,
        again: String,
        status: Int32,
        arguments: String = ""
    ) throws -> (status: Int32, output: String) {
        try workspace.write(Self.names + first, to: "first")
        try workspace.write(Self.names + again, to: "again")
        let command = """
            #!/bin/sh
            case "$*" in
            *'.('*) echo "$@" > filter; cat again; exit \(status) ;;
            *) cat first; exit 1 ;;
            esac
            """
        try workspace.write(command + "\n", to: "tests")
        let script = "'\(FixturePlugins.root)'/scripts/run-tests"
        let status = shell("cd '\(workspace.path)' && chmod +x tests && \(script) ./tests \(arguments) > output 2>&1")
        return (status, try readFile(at: "\(workspace.path)/output"))
    }

    private static func issues(in suites: [String]) -> String {
        suites.map { suite in
            """
            \u{1B}[91m✘\u{1B}[0m Test "\(suite) fails" recorded an issue at F.swift:1:1: Expectation failed: (a)
            \u{1B}[91m✘\u{1B}[0m Suite \(suite) failed after 1.0 seconds with 1 issue.

            """
        }
        .joined() + "\u{1B}[91m✘\u{1B}[0m Test run with 9 tests in 3 suites failed after 1.0 seconds with 1 issue.\n"
    }

    private static let passed = "\u{1B}[92m✔\u{1B}[0m Test run with 1 test in 1 suite passed after 1.0 seconds.\n"

    @Test func `a suite that failed runs again, and is called flaky if it passes`() throws {
        let end = try run(first: Self.issues(in: ["FooTests"]), again: Self.passed, status: 0)
        #expect(end.status == 0 && end.output.hasSuffix("passed: 9 tests\n"))
        #expect(end.output.contains("flaky, passed when run again:\n"))
        #expect(try readFile(at: "\(workspace.path)/filter") == "--filter \\.(FooTests)/\n")
    }

    @Test func `the filter of a second run replaces those of the command`() throws {
        let arguments = "--filter One --skip Two --filter Three"
        let end = try run(first: Self.issues(in: ["FooTests"]), again: Self.passed, status: 0, arguments: arguments)
        #expect(end.status == 0)
        #expect(try readFile(at: "\(workspace.path)/filter") == "--skip Two --filter \\.(FooTests)/\n")
    }

    @Test func `a suite that fails again has failed, and only it is listed`() throws {
        let issues = Self.issues(in: ["FooTests"])
        let end = try run(first: issues, again: issues, status: 1)
        #expect(end.status == 1 && end.output.hasSuffix("failed: 1 issues in 9 tests\n"))
        let list = end.output.split(separator: "\n").suffix(2)
        #expect(list.first?.contains("FooTests fails") == true)
    }

    /// Why a second run would prove nothing; without a text, which would look like a failure in the log of these tests.
    enum Reason: CaseIterable {
        case suites, trap, signal

        fileprivate var output: String {
            switch self {
            case .suites: TestScriptTests.issues(in: ["A", "B", "C"])
            case .trap: TestScriptTests.issues(in: ["A"]) + "F.swift:1: Fatal error: index out of range\n"
            case .signal: TestScriptTests.issues(in: ["A"]) + "error: Exited with unexpected signal code 11\n"
            }
        }
    }

    @Test(arguments: Reason.allCases)
    func `many failures, or worse ones than failed tests, get no second run`(_ reason: Reason) throws {
        #expect(try run(first: reason.output, again: Self.passed, status: 0).status == 1)
        #expect(shell("test ! -e '\(workspace.path)/filter'") == 0)
    }
}
