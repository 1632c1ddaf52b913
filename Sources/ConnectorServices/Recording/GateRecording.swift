// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// The traffic between a gate and its vendor, kept as a file of answers that `simulate` can replay.
///
/// The order of its answers depends only on the requests; answers to equal requests stay in the order in which they
/// arrived. The file is always whole. It is up to date or, once it is long, at most a second behind: rewriting it for
/// each answer would take time that grows with the square of its length. A recording covers a session, not unlimited
/// operation: it ends after ten minutes, or when it is full.
final class GateRecording: Sendable {
    private struct State {
        var file: RecordingFile
        var answers: RecordedAnswerList
        /// The size of the answers that are in the file.
        var written = 0
        /// How many responses were left out.
        var leftOut = 0
        /// The logger for the write that the timer will start; nil if none is pending.
        var waiting: Logger?
        /// Whether the recording has ended; the log says so.
        var isEnded = false
        /// Logs why it has ended; nil while it continues, or once the log says so.
        var log: (@Sendable () -> Void)?
    }

    /// The most bytes of a file, which is the most that a simulation reads.
    static let sizeLimit = 4 << 20
    /// The longest recording, in nanoseconds: vendors refuse signatures from a clock that stands still for longer.
    static let timeLimit: UInt64 = 600 * 1_000_000_000
    /// A smaller file is rewritten for each answer, a larger one whenever it has grown by an eighth.
    private static let eagerLimit = 64 << 10
    /// How long an answer may be in memory only, in nanoseconds.
    static let delay: UInt64 = 1_000_000_000

    private let target: RecordingTarget
    private let limit: Int
    private let clock: any HostClock
    /// The threads that write to the disk when the timer fires.
    private let workers: WorkerThreads
    private let start: UInt64
    /// The time that the plugin's clock shows, in full seconds unless it was chosen.
    private let time: Timestamp
    private let state: Mutex<State>

    /// Creates a recording; its first answer creates the file.
    ///
    /// - Parameter limit: The most bytes to keep; an answer beyond them ends the recording.
    init(_ target: RecordingTarget, clock: any HostClock, workers: WorkerThreads, limit: Int = sizeLimit) {
        self.target = target
        self.workers = workers
        self.limit = limit
        self.clock = clock
        start = clock.now()
        let now = clock.wallTime().nanoseconds
        time = target.time ?? Timestamp(nanoseconds: now - now % 1_000_000_000)
        state = Mutex(State(file: RecordingFile(target), answers: RecordedAnswerList(limit: limit)))
    }

    /// The time of day for a plugin that asks for it, which the file then has; nil once the recording has ended. It stands still,
    /// so that a replay sends the same requests.
    func readTime() -> Timestamp? {
        state.withLock { state in
            guard let shown = shownTime(state) else { return nil }
            state.answers.time = shown
            return shown
        }
    }

    /// The time of day that the plugin would get now, without asking for it; nil once the recording has ended.
    var shownTime: Timestamp? { state.withLock { shownTime($0) } }

    private func shownTime(_ state: State) -> Timestamp? { state.isEnded || isOver ? nil : time }

    private var isOver: Bool { clock.now() - start > Self.timeLimit }

    /// Adds the end of a request. Blocks on the disk; problems are logged and do not reach the caller.
    ///
    /// - Parameters:
    ///   - failure: What ended a response that comes in parts before its end; nil if it was whole.
    ///   - isInParts: Whether the response came in parts, which the plugin gets as they are, compressed or not.
    ///   - root: The root path of a simulated vendor, which is not part of the vendor's own paths.
    func add(
        _ result: Result<HTTPResponse, ServiceFailure>,
        brokenBy failure: ServiceFailure? = nil,
        isInParts: Bool = false,
        to request: RequestTemplate,
        below root: String,
        _ redactor: Redactor,
        _ logger: Logger
    ) {
        // Looking for secrets takes long, and the plugin waits meanwhile.
        guard !isFull(with: result, logger) else { return }
        let texts = RecordedTexts(redactor: redactor)
        let response: RecordedResponse
        switch result {
        case .failure(let failure): response = RecordedResponse(failure, texts)
        case .success(let sent):
            var reply = sent
            if sent.isDecodable {
                guard let decoded = try? sent.decoded(limit: limit) else {
                    return warn(
                        "a response is not recorded: its compressed body is too long, or damaged",
                        request,
                        logger
                    )
                }
                reply = decoded
            }
            guard reply.status >= 200 else {
                return warn("a response is not recorded: no answer has a status below 200", request, logger)
            }
            guard !texts.mayIssueToken(in: reply) else {
                return warn("a response is not recorded: it is not whole JSON, and may issue a token", request, logger)
            }
            guard !texts.hidesSecret(in: reply.body) else {
                return warn("a response is not recorded: a secret cannot be removed from it", request, logger)
            }
            // Read the response before the request: it may issue tokens that later requests contain.
            let readable = RecordedResponse(reply, brokenBy: failure, to: request.method, texts)
            let isKept = isInParts && sent.isDecodable && texts.isClean(reply.body)
            response = isKept ? RecordedResponse(sent, brokenBy: failure, to: request.method, texts) : readable
        }
        let match = RecordedRequestMatch(request, below: root, texts)
        let text = JSONValue.object(JSONObject(unique: match.members + response.members)).serialized()
        guard texts.isClean(text) else {
            return warn("a response is not recorded: a secret cannot be removed from it", request, logger)
        }
        locked { state in
            guard !state.isEnded else { return }
            // A replay gives the last answer as often as it is asked for, so the file does not change.
            let isInFile = !target.isSession && state.answers.repeats(response, to: match)
            if !isInFile, !mayGoOn(&state, logger) { return }
            guard state.answers.add(response, to: match) else { return endFull(&state, logger) }
            if !isInFile { change(&state, logger) }
        }
    }

    /// Adds a call that has ended, unless a response was left out meanwhile: without it, the call would end otherwise. Blocks on the disk.
    func add(_ end: GateCallEnd, _ redactor: Redactor, _ logger: Logger) {
        guard !state.withLock(\.isEnded) else { return }
        let texts = RecordedTexts(redactor: redactor)
        // An argument with another name could not be passed again.
        let hasNames = end.arguments.members.allSatisfy { texts.isClean(name: $0.name) }
        let call = RecordedCall(end, texts)
        let text = JSONValue.object(call.json).serialized()
        guard hasNames, texts.isClean(text) else {
            return logger.warning(
                "a call is not recorded: a secret cannot be removed from it",
                metadata: ["file": "\(target.path)"]
            )
        }
        guard end.leftOutBefore == leftOut else {
            return logger.warning(
                "a call is not recorded: a response to it may not be recorded",
                metadata: ["file": "\(target.path)", "operation": "\(end.operation)"]
            )
        }
        locked { state in
            guard !state.isEnded, mayGoOn(&state, logger) else { return }
            guard state.answers.add(call) else { return endFull(&state, logger) }
            // Calls alone make no file: a recording begins with the vendor's first answer.
            if state.answers.count > 0 { change(&state, logger) }
        }
    }

    /// Writes what is in memory only. Blocks on the disk.
    func flush() {
        locked { state in
            guard let logger = state.waiting else { return }
            write(&state, logger)
        }
    }

    /// Works on the state, and then logs, not under the lock: a log handler is the application's code.
    private func locked(_ body: (inout sending State) -> Void) {
        let log = state.withLock { state in
            body(&state)
            return state.log.take()
        }
        log?()
    }

    /// Writes the file, now or within ``delay``.
    private func change(_ state: inout State, _ logger: Logger) {
        let size = state.answers.size
        guard size >= Self.eagerLimit, size - state.written < size / 8 else { return write(&state, logger) }
        guard state.waiting == nil else { return }
        state.waiting = logger
        _ = clock.schedule(after: Self.delay) { self.workers.run { self.flush() } }
    }

    /// Ends the recording if its time is over; false if it does.
    private func mayGoOn(_ state: inout State, _ logger: Logger) -> Bool {
        guard isOver else { return true }
        end(&state, "it ends after ten minutes", logger)
        return false
    }

    /// Whether the recording has ended, or ends now because a response alone is longer than it may be.
    private func isFull(with result: Result<HTTPResponse, ServiceFailure>, _ logger: Logger) -> Bool {
        let room = limit - RecordedAnswerList.emptySize
        locked { state in
            if !state.isEnded, case .success(let reply) = result, reply.body.count > room { endFull(&state, logger) }
        }
        return state.withLock(\.isEnded)
    }

    private func endFull(_ state: inout State, _ logger: Logger) {
        end(&state, "with what came now, it would have more than \(limit) bytes", logger)
    }

    private func write(_ state: inout State, _ logger: Logger) {
        state.waiting = nil
        do throws(SystemError) {
            let text = state.answers.document(isPart: target.isSession).utf8(pretty: true) + [UInt8(ascii: "\n")]
            try state.file.replace(with: text)
            state.written = state.answers.size
        } catch {
            state.isEnded = true
            let fix =
                state.file.existed(error)
                ? "the file exists and is kept: move it away, or name another one in \"record\""
                : "make its directory, or name another file in \"record\""
            state.log = { [path = target.path] in
                logger.error(
                    "the recording cannot be written",
                    metadata: ["file": "\(path)", "error": "\(error.text)", "fix": "\(fix)"]
                )
            }
        }
    }

    private func end(_ state: inout State, _ reason: String, _ logger: Logger) {
        state.isEnded = true
        state.log = { [path = target.path] in
            logger.warning(
                "the recording has ended, and nothing more is recorded",
                metadata: ["file": "\(path)", "reason": "\(reason)", "fix": "record a shorter session"]
            )
        }
    }

    /// How many responses were left out so far.
    var leftOut: Int { state.withLock(\.leftOut) }

    /// Says that a response is left out.
    func warn(_ message: Logger.Message, _ request: RequestTemplate, _ logger: Logger) {
        state.withLock { $0.leftOut += 1 }
        logger.warning(message, metadata: ["file": "\(target.path)", "method": "\(request.method)"])
    }
}
