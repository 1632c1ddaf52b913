// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Failures, provoked by malformed configurations, a vendor that is not there, and hosts that are not allowed.
extension PluginConformance.Rule {
    static let errorRules: [Self] = [
        errorStatus, errorObject, errorMessage, errorUTF8, errorRetryable, errorText, errorHelp,
    ]

    /// A failure has a status of `connector/error.h`, the same status in the error object, and a message in UTF-8.
    public static let errors = errorObject

    static let errorStatus: Self = Self(
        "error-status",
        level: 2,
        .errors,
        "Failures have a status of the ABI",
        expects: "A failure has a status from 1 to 14.",
        fix: "use the constants of connector/error.h",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorObject: Self = Self(
        "error-object",
        level: 3,
        .errors,
        "The error object has the same status",
        expects: "The code of the error object is the status.",
        fix: "set error->code to what you return",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorMessage: Self = Self(
        "error-message",
        level: 3,
        .errors,
        "Failures have a message",
        expects: "The error object has a message.",
        fix: "fill in error->message",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorUTF8: Self = Self(
        "error-utf8",
        level: 3,
        .errors,
        "Messages are UTF-8",
        expects: "Message and domain are valid UTF-8, also where they are cut.",
        fix: "cut texts between characters",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorRetryable: Self = Self(
        "error-retryable",
        level: 3,
        .errors,
        "Failures say whether to try again",
        expects: "retryable is 0 or 1.",
        fix: "zero the error object before you fill it in",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorText: Self = Self(
        "error-text",
        level: 4,
        .errors,
        "Messages are one line",
        expects: "A message has no control characters.",
        fix: "take what the vendor said out of its markup",
        needs: .image
    ) { run in try await provoked(run) }

    static let errorHelp: Self = Self(
        "error-help",
        level: 7,
        .errors,
        "Messages say what failed",
        expects: "A message is a sentence: what failed, and what to do.",
        fix: "name the object and the reason, such as \"the key was refused (HTTP 401); make a new one\"",
        needs: .image
    ) { run in try await provoked(run) }

    private static func provoked(_ run: RuleRun) async throws {
        try await malformed(run)
        let bench = try await run.bench(hasVendor: false)
        try await bench.lifeCycle()
        try await bench.lifeCycle(probing: false)
    }
}
