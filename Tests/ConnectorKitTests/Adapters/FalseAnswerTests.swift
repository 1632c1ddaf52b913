// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

/// No adapter takes the answer of a proxy, a captive portal or a broken server for its vendor's.
@Suite struct FalseAnswerTests {
    @Test(arguments: AdapterExercise.all)
    func `the vendor's own answers are accepted`(_ exercise: AdapterExercise) async throws {
        let (plugin, _) = try exercise.adapter()
        switch try await exercise.prepare(plugin)() {
        case .evidence(let evidence): #expect(evidence.contains { $0.kind != .configured })
        case .deliveries(let answers): #expect(answers.allSatisfy { $0.outcome == .accepted })
        case .result: break
        }
    }

    @Test(arguments: AdapterExercise.all, FalseAnswer.allCases)
    func `no other answer to any request is accepted`(_ exercise: AdapterExercise, _ answer: FalseAnswer) async throws {
        let (plugin, http) = try exercise.adapter()
        let operation = try await exercise.prepare(plugin)
        http.watch(falsifying: nil)
        _ = try await operation()
        #expect(!http.questions.isEmpty)
        for question in http.questions where !exercise.isTrue(answer, to: question) {
            try await check(exercise, question, answer)
        }
    }

    private func check(
        _ exercise: AdapterExercise,
        _ question: SimulatedHTTP.Question,
        _ answer: FalseAnswer
    ) async throws {
        let (plugin, http) = try exercise.adapter()
        let operation = try await exercise.prepare(plugin)
        http.watch(falsifying: (question, answer))
        let context = "\(question.method.rawValue) \(question.number)"
        // These say in the body what they refuse, whatever the status.
        let isRefusal = answer == .refusal && ["clickhouse", "google", "s3"].contains(exercise.vendor)
        do {
            let claim = try await operation()
            // Some answers are the same by nature: InfluxDB's is empty.
            guard http.wasFalsified else { return }
            switch claim {
            case .evidence(let evidence):
                #expect(exercise.isExtra(question), "\(context) is no proof: \(evidence)")
                let isProved = evidence.contains { $0.kind == .authenticated }
                #expect(!isProved || exercise.isBeside(question), "\(context)")
            case .deliveries(let answers):
                #expect(answers.allSatisfy { $0.outcome == .retry }, "\(context)")
                #expect(isRefusal || answers.allSatisfy { $0.code == .protocolViolation }, "\(context)")
            case .result: #expect(exercise.isConfirmed(question), "\(context): taken for the vendor's answer")
            }
        } catch let error as PluginError {
            guard !exercise.hasTakenEffect(before: question) else {
                #expect(error.status == .failed && !error.isRetryable, "\(context): \(error.message)")
                return
            }
            #expect(error.isRetryable, "\(context): \(error.message)")
            #expect(isRefusal || error.status == .protocolViolation, "\(context): \(error.message)")
        }
    }

    @Test func `a false answer is not cached`() async throws {
        let exercise = try #require(AdapterExercise.all.first { $0.vendor == "nominatim" && $0.name == "geocode" })
        let (plugin, http) = try exercise.adapter()
        let operation = try await exercise.prepare(plugin)
        http.watch(falsifying: (SimulatedHTTP.Question(method: .get, number: 0), .otherArray))
        await #expect(throws: PluginError.self) { _ = try await operation() }
        _ = try await operation()
        #expect(http.questions.count == 2)
    }
}
