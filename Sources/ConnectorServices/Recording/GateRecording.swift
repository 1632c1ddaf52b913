// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// What a gate and its vendor say, kept as a file of answers that `simulate` can replay.
///
/// The order of its answers depends on nothing but the requests; only the answers to equal requests stay in the order in which they came.
/// The file is complete whenever a request has completed. A recording is of a session, not of an operation that goes on: it ends after
/// ten minutes, or when it is full.
final class GateRecording: Sendable {
    private struct State {
        var file: RecordingFile
        var answers = RecordedAnswerList()
        /// Bytes of the answers so far.
        var size = 0
        /// Whether nothing more is recorded, which was logged.
        var isEnded = false
    }

    /// The most bytes of a file, which is the most that a simulation reads.
    static let sizeLimit = 4 << 20
    /// How long a recording takes, in nanoseconds: vendors refuse signatures of a clock that stands still for longer.
    static let timeLimit: UInt64 = 600 * 1_000_000_000
    /// What indentation may add to the bytes of an answer.
    private static let indentation = 4

    private let target: RecordingTarget
    private let limit: Int
    private let clock: any HostClock
    private let start: UInt64
    /// What the plugin's clock says, in full seconds unless somebody chose it.
    private let time: Timestamp
    private let state: Mutex<State>

    /// Creates a recording; its first answer makes the file.
    ///
    /// - Parameter limit: The most bytes to keep; beyond it, answers are left out.
    init(_ target: RecordingTarget, clock: any HostClock, limit: Int = sizeLimit) {
        self.target = target
        self.limit = limit
        self.clock = clock
        start = clock.now()
        let now = clock.wallTime().nanoseconds
        time = target.time ?? Timestamp(nanoseconds: now - now % 1_000_000_000)
        state = Mutex(State(file: RecordingFile(target)))
    }

    /// The time of day for a plugin, which stands still, so that the replay sends the same; nil once the recording has ended.
    func readTime() -> Timestamp? {
        state.withLock { state in
            guard !state.isEnded, !isOver else { return nil }
            state.answers.time = time
            return time
        }
    }

    private var isOver: Bool { clock.now() - start > Self.timeLimit }

    /// Adds a response and writes the file. Blocks on the disk; problems are logged, and concern nobody else.
    ///
    /// - Parameter root: The path of what takes the vendor's place, which is no part of the vendor's paths.
    func add(
        _ reply: HTTPResponse,
        to request: RequestTemplate,
        below root: String,
        _ redactor: Redactor,
        _ logger: Logger
    ) {
        let texts = RecordedTexts(redactor: redactor)
        var reply = reply
        if let coding = reply.contentCoding {
            guard let decoded = try? reply.decoded(coding, limit: limit) else {
                return warn("a response is not recorded: its compressed body is too long, or damaged", request, logger)
            }
            reply = decoded
        }
        // The response may hand out tokens that the requests after it have.
        let response = RecordedResponse(reply, to: request.method, texts)
        let match = RecordedRequestMatch(request, below: root, texts)
        let text = JSONValue.object(JSONObject(unique: match.members + response.members)).serialized()
        guard texts.isClean(text) else {
            return warn("a response is not recorded: a secret cannot be removed from it", request, logger)
        }
        state.withLock { state in
            let isRepeated = !state.isEnded && state.answers.repeats(response, to: match)
            // The last answer is replayed as often as it is asked for, so that nothing changes in the file.
            if isRepeated, !target.isSession { return state.answers.add(response, to: match) }
            guard reserve(isRepeated ? "" : text, &state, logger) else { return }
            state.answers.add(response, to: match)
            write(&state, logger)
        }
    }

    /// Adds a call that has ended and writes the file. Blocks on the disk.
    func add(_ call: GateCallEnd, _ redactor: Redactor, _ logger: Logger) {
        let texts = RecordedTexts(redactor: redactor)
        let call = RecordedCall(call, texts)
        let text = JSONValue.object(call.json).serialized()
        guard texts.isClean(text) else {
            return logger.warning(
                "a call is not recorded: a secret cannot be removed from it",
                metadata: ["file": "\(target.path)"]
            )
        }
        state.withLock { state in
            guard reserve(text, &state, logger) else { return }
            state.answers.add(call)
            // A recording begins with what the vendor says.
            if state.answers.count > 0 { write(&state, logger) }
        }
    }

    /// Makes room for a text; false if the recording has ended.
    private func reserve(_ text: String, _ state: inout State, _ logger: Logger) -> Bool {
        guard !state.isEnded else { return false }
        let size = state.size + Self.indentation * text.utf8.count
        guard !isOver, size <= limit else {
            end(&state, isOver ? "it ends after ten minutes" : "it has \(limit) bytes", logger)
            return false
        }
        state.size = size
        return true
    }

    private func write(_ state: inout State, _ logger: Logger) {
        do throws(SystemError) {
            let document = state.answers.document(isPart: target.isSession)
            try state.file.replace(with: document.utf8(pretty: true) + [UInt8(ascii: "\n")])
        } catch {
            state.isEnded = true
            logger.error(
                "the recording cannot be written",
                metadata: [
                    "file": "\(target.path)", "error": "\(error.text)",
                    "fix": state.file.existed(error)
                        ? "the file exists and is kept: move it away, or name another one in \"record\""
                        : "make its directory, or name another file in \"record\"",
                ]
            )
        }
    }

    private func end(_ state: inout State, _ reason: String, _ logger: Logger) {
        state.isEnded = true
        logger.warning(
            "the recording has ended, and nothing more is recorded",
            metadata: ["file": "\(target.path)", "reason": "\(reason)", "fix": "record a shorter session"]
        )
    }

    private func warn(_ message: Logger.Message, _ request: RequestTemplate, _ logger: Logger) {
        logger.warning(message, metadata: ["file": "\(target.path)", "method": "\(request.method)"])
    }
}
