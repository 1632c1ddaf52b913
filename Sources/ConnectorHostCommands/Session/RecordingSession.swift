// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import ConnectorServices

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One run of a command whose hosts record a connector, each process in a file of its own.
struct RecordingSession: Sendable {
    private let request: RecordingRequest
    /// The directory for the files.
    private let directory: TemporaryDirectory
    /// The command, once it runs.
    private let child = OneShot<ForegroundProcess>()

    /// Handles the signals that would end this process, and creates the directory for the files, which ``remove()`` removes.
    ///
    /// From here on a signal ends only the command, so that what was recorded until then is kept.
    ///
    /// - Parameter time: The time on the plugin's clock; nil for now.
    init(of connector: String, time: Timestamp?) throws(ConnectorError) {
        Interruption.handle([SIGINT, SIGTERM, SIGHUP]) { [child] number in
            // Ctrl-C reaches a command that runs from the terminal.
            guard number != SIGINT || child.value == nil else { return }
            Task { await child.wait().signal(number) }
        }
        let now = Timestamp.now.nanoseconds
        do throws(SystemError) {
            directory = try TemporaryDirectory("connector-record")
            request = RecordingRequest(
                connector: connector,
                directory: directory.path,
                time: time ?? Timestamp(nanoseconds: now - now % 1_000_000_000)
            )
        } catch {
            throw ConnectorError(
                .failed,
                "no directory can be made in \(TemporaryDirectory.parent)",
                fix: error.diskRemedy ?? "set TMPDIR to a directory that may be written",
                cause: error.description
            )
        }
    }

    /// Removes the files that the processes wrote.
    func remove() { directory.remove() }

    /// Runs the command to its end.
    ///
    /// - Returns: Its exit status; nil if the system does not know it.
    func run(_ command: [String]) async throws(ConnectorError) -> Int32? {
        var variables = ProcessEnvironment.current
        variables[RecordingRequest.variable] = SystemText(request.text)
        let process: ForegroundProcess
        do throws(SystemError) {
            process = try ForegroundProcess(
                command,
                environment: variables,
                output: StandardStream.output.descriptor
            )
        } catch {
            throw ConnectorError(
                .notFound,
                "\(command.first?.excerpt ?? "the command") cannot be run",
                fix: "write a program's path, or a name in PATH, after --",
                cause: error.description
            )
        }
        child.send(process)
        let ended = OneShot<Int32?>()
        guard HostThread.start("record", { ended.send(process.status()) }) else { return process.status() }
        return await ended.wait()
    }

    /// The answers that all processes recorded, in the order in which the processes began, as many as a simulation reads.
    func answers() throws(ConnectorError) -> RecordedAnswerList {
        let names = (try? Directory.entries(of: request.directory))?.map(\.name) ?? []
        var answers = RecordedAnswerList(limit: SimulatorReference.sizeLimit)
        for number in names.compactMap({ $0.hasSuffix(".json") ? Int($0.dropLast(5)) : nil }).sorted() {
            let path = "\(request.directory)/\(number).json"
            let text = try SmallFile(reading: path, limit: SimulatorReference.sizeLimit).bytes
            // A process that was killed before it wrote its first answer leaves an empty file.
            if !text.isEmpty { answers.add(part: try JSONValue(document: text, file: path)) }
        }
        return answers
    }

    // MARK: The file

    /// Checks, before anything runs, that the file can be written and that no existing file would be lost.
    static func check(_ file: String, replaces: Bool) throws(ConnectorError) {
        if !replaces, unsafe access(file, F_OK) == 0 { throw exists(file) }
        if let found = FileStamp(itself: file), found.kind != S_IFREG, found.kind != S_IFLNK {
            throw ConnectorError(
                .conflict,
                "\(file.excerpt) is not a file, and is kept",
                fix: "name a file with --into"
            )
        }
        let directory = file.parentPath
        guard unsafe access(directory, W_OK) == 0 else {
            let error = SystemError()
            throw ConnectorError(
                .storage,
                "\(file.excerpt) cannot be written",
                fix: error.diskRemedy ?? "make the directory \(directory.excerpt), or name another file with --into",
                cause: error.description
            )
        }
    }

    /// Writes the file atomically; only its owner may read it.
    static func write(_ answers: RecordedAnswerList, to file: String, replaces: Bool) throws(ConnectorError) {
        let text = answers.document().utf8(pretty: true) + [UInt8(ascii: "\n")]
        do throws(SystemError) {
            var target = RecordingFile(RecordingTarget(file))
            if replaces {
                try OutputFile.replace(file, with: text, mode: 0o600)
            } else {
                try target.replace(with: text)
            }
        } catch {
            if error.number == EEXIST { throw exists(file) }
            throw ConnectorError(
                .storage,
                "\(file.excerpt) cannot be written",
                fix: error.diskRemedy,
                cause: error.description
            )
        }
    }

    private static func exists(_ file: String) -> ConnectorError {
        ConnectorError(
            .conflict,
            "\(file.excerpt) exists, and is kept",
            fix: "name another file with --into, or replace this one with --replace"
        )
    }
}
