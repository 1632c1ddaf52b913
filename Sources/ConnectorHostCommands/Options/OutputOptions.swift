// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How a command answers.
struct OutputOptions: ParsableArguments {
    /// Whether to answer in JSON.
    @Flag(name: .customLong("json"), help: "Print one JSON document on standard output.")
    var isJSON = false

    /// The way out for every answer.
    var output: Output { Output(format: isJSON ? .json : .text, style: .detected(for: .output)) }
}
