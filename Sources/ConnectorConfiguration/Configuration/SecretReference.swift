// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Where a secret is: `env:NAME`, `file:PATH` with a resolved path, `credential:NAME`, or the output of a command.
enum SecretReference: Sendable, Hashable {
    case environment(String)
    case file(String)
    /// A file in the directory of credentials that the service manager made for this process.
    case credential(String)
    /// A program with its arguments, run without a shell, in the directory of the file that names it.
    case command([String], timeout: Duration, base: BaseDirectory)

    /// The maximum size of a secret's file, and of a command's output, in bytes.
    static let sizeLimit = 64 << 10
    /// How long a command may take at most.
    static let longestTimeout = Duration.seconds(60)
    /// How long a command may take by default.
    static let commandTimeout = Duration.seconds(5)

    /// What the text of a reference must be, for messages.
    static let rule = "a secret must be \"env:NAME\", \"file:PATH\", \"credential:NAME\" or \"exec:PROGRAM\""

    /// Parses the text of `{"secret": …}`; nil if it is malformed.
    ///
    /// - Parameter base: The directory that a relative path is resolved against.
    init?(_ text: String, base: BaseDirectory) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "env" where rest.isCIdentifier: self = .environment(rest)
        case "file" where !rest.isEmpty: self = .file(base.resolve(rest))
        case "credential" where Self.isFileName(rest): self = .credential(rest)
        case "exec" where !rest.isEmpty && !rest.utf8.contains { $0 <= 0x20 }: self.init(command: [rest], base: base)
        default: return nil
        }
    }

    /// Refers to the output of a program; nil without one.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments. A name without a slash is searched for in `PATH`.
    ///   - base: The directory that the program's relative path is resolved against, and that the program runs in.
    init?(command: [String], timeout: Duration = commandTimeout, base: BaseDirectory) {
        guard let program = command.first, !program.isEmpty, !command.contains(where: { $0.utf8.contains(0) }) else {
            return nil
        }
        let resolved = program.utf8.contains(UInt8(ascii: "/")) ? base.resolve(program) : program
        self = .command([resolved] + command.dropFirst(), timeout: timeout, base: base)
    }

    /// Whether a text is the name of a file in a directory.
    private static func isFileName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && text.utf8.count <= 255
            && text.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 > 0x1F }
    }

    /// Whether its reading can be compared with a second one, to notice a rotation in between.
    var isFile: Bool {
        switch self {
        case .file, .credential: true
        case .environment, .command: false
        }
    }

    /// The file that it reads; nil if it reads none.
    func file(environment: Configuration.Environment) -> String? {
        switch self {
        case .file(let path): path
        case .credential(let name): environment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(name)" }
        case .environment, .command: nil
        }
    }

    /// The reference as written in the file; for a command, only the program, because arguments may be private.
    var description: String {
        switch self {
        case .environment(let name): "env:\(name)"
        case .file(let path): "file:\(path.withGivenPaths)"
        case .credential(let name): "credential:\(name)"
        case .command(let words, _, _): "exec:\((words.first ?? "").withGivenPaths)"
        }
    }
}
