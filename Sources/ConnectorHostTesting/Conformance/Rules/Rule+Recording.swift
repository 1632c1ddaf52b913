// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorSimulator

/// A recording as a test case.
extension PluginConformance.Rule {
    static let recordedCalls: Self = Self(
        "recorded-calls",
        level: 6,
        .operations,
        "Calls end as they were recorded",
        expects:
            "Each call of a recording that is passed with --answers has the result, or the error's code, that was recorded.",
        fix:
            "compare what the plugin asks and makes of the answer with the recording; record again if the change is wanted",
        needs: .gate
    ) { run in
        guard let answers = run.options.answers, answers["calls"]?.array?.isEmpty == false else {
            throw RuleStop.inapplicable("no recording with calls was passed")
        }
        // The gate needs the vendor, and starting that reports the recording's faults.
        let gate = try await run.gate()
        let calls = (try? SimulatedWorld(parsing: answers.utf8(), file: "answers"))?.calls ?? []
        for call in calls {
            run.trace.add("call \(call.operation) \(JSONValue.object(call.arguments))")
            let name = "\(call.operation) \(JSONValue.object(call.arguments).description.excerpt)"
            do throws(ConnectorError) {
                let result = try await gate.client.call(
                    call.operation,
                    call.arguments,
                    // A plugin may pace its requests to the vendor, and the vendor's time is part of a recording.
                    options: CallOptions(timeout: max(run.options.timeout, .seconds(10)))
                )
                if let error = call.error {
                    run.report(recordedCalls, "\(name) succeeded; \(error) was recorded")
                } else if result != call.result {
                    run.report(
                        recordedCalls,
                        "\(name) returned \(result.description.excerpt); \(call.result.description.excerpt) was recorded"
                    )
                }
            } catch {
                guard error.code.rawValue != call.error else { continue }
                let recorded = call.error ?? call.result.description.excerpt
                run.report(recordedCalls, "\(name) failed: \(error.message) [\(error.code)]; \(recorded) was recorded")
            }
        }
    }
}
