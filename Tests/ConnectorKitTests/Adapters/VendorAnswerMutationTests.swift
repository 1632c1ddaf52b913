// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorServices
import ConnectorTestSupport
internal import Testing

/// Whatever a vendor answers, an adapter returns or throws, and what the host would show of it has no secret.
@Suite struct VendorAnswerMutationTests {
    private static let secret = "s3cr3t-of/the+vendor"

    @Test(arguments: AdapterExercise.all)
    func `an adapter takes or refuses any answer, and shows no secret`(_ exercise: AdapterExercise) async throws {
        let redactor = Redactor([Secret(Self.secret)])
        for round in 0..<UInt64(fuzzRounds) {
            let seed = fuzzSeed &* 1_000_003 &+ round
            let (plugin, http) = try exercise.adapter()
            let operation = try await exercise.prepare(plugin)
            http.watch(damaging: AnswerMutator(seed: seed, secret: Self.secret))
            var texts: [String] = []
            do {
                switch try await operation() {
                case .evidence(let evidence): texts = evidence.map(\.detail)
                case .deliveries(let answers): texts = answers.compactMap(\.reason)
                case .result: break
                }
            } catch let error as PluginError {
                texts = [error.message]
            } catch is ExpectationFailedError {
                // The answer was taken, and has no places in it.
            }
            for text in texts {
                let shown = redactor.redact(text)
                #expect(!shown.lowercased().contains("s3cr3t-of/"), "seed \(seed): \(shown)")
                #expect(!shown.contains(Base64.encode(Array(Self.secret.utf8)).prefix(14)), "seed \(seed): \(shown)")
            }
        }
    }
}
