// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A terminal that nobody sits at: a pane of tmux, in which a shell with job control runs a script that runs the program.
///
/// The shell says how the program ended and whether the terminal is as it was before, and waits. A stopped job continues after Enter.
final class TmuxTerminal: Sendable {
    /// Whether tmux is installed.
    static let isThere = shell("command -v tmux > /dev/null 2>&1") == 0

    private let program: Program
    private let socket: String
    private let scratch: Workspace

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - variables: What the program gets besides the environment of ``Program``, such as `NO_COLOR=1`.
    init(
        _ program: Program,
        _ arguments: String...,
        width: Int = 80,
        height: Int = 24,
        variables: [String] = []
    ) async throws {
        self.program = program
        scratch = try Workspace()
        socket = "\(scratch.path)/tmux"
        // A crash must not leave its note to other tests.
        let state = "XDG_STATE_HOME=\(scratch.path)/state"
        let environment = program.environment.map { "\($0.key)=\($0.value)" } + [state] + variables
        let words =
            ["env", "-i", "TERM=screen"] + environment + [
                "sh", "-c", "echo $$ > \(scratch.path)/pid; exec \"$@\"", "sh",
            ]
        let command = (words + [Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        try scratch.write("\(command)\nexit $?\n", to: "job")
        try scratch.write(
            """
            set -m
            cd '\(program.directory)'
            before=$(stty -g)
            echo "the text before"
            sh '\(scratch.path)/job'
            status=$?
            while [ $status -eq \(128 + SIGSTOP) ]; do
                echo "the job has stopped"
                read -r line
                fg > /dev/null
                status=$?
            done
            echo "status $status"
            [ "$before" = "$(stty -g)" ] && echo "the terminal is as it was"
            exec cat > /dev/null
            """,
            to: "script"
        )
        try await tmux(
            "new-session",
            "-d",
            "-x",
            "\(width)",
            "-y",
            "\(height)",
            "exec sh \(scratch.path)/script"
        )
        // What a program copies with OSC 52 is kept.
        try await tmux("set-option", "-s", "set-clipboard", "on")
    }

    deinit {
        shell("tmux -S '\(socket)' kill-server > /dev/null 2>&1")
    }

    /// Runs a command of tmux.
    @discardableResult
    func tmux(_ arguments: String...) async throws -> String {
        let child = try Child(
            start: "/usr/bin/env",
            ["tmux", "-u", "-S", socket, "-f", "/dev/null"] + arguments,
            Program(directory: scratch.path, workspace: scratch)
        )
        let result = try await child.finish()
        try #require(result.status == 0, "tmux \(arguments): \(result.error)")
        return result.output
    }

    /// Presses keys, by tmux's names for them.
    func press(_ keys: String...) async throws {
        for key in keys { try await tmux("send-keys", key) }
    }

    /// The lines of the screen.
    func screen() async throws -> [String] {
        try await tmux("capture-pane", "-p").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines of the screen, once one of them contains a text.
    @discardableResult
    func screen(with text: String) async throws -> [String] {
        while true {
            try Task.checkCancellation()
            let lines = try await screen()
            if lines.contains(where: { $0.contains(text) }) { return lines }
        }
    }

    /// The lines of the screen, once none of them contains a text.
    @discardableResult
    func screen(without text: String) async throws -> [String] {
        while true {
            try Task.checkCancellation()
            let lines = try await screen()
            if !lines.contains(where: { $0.contains(text) }) { return lines }
        }
    }

    /// Sends the program a signal.
    func signal(_ name: String) {
        shell("kill -\(name) $(cat '\(scratch.path)/pid')")
    }

    /// Waits until the program has ended, and the shell has said how.
    func end() async throws -> [String] {
        try await screen(with: "status ")
    }
}
