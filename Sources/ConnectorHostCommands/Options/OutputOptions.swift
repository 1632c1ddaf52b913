// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How a command answers.
struct OutputOptions: ParsableArguments {
    /// Whether a program reads the answer.
    @Flag(name: .customLong("json"), help: "Print one JSON document on standard output.")
    var isJSON = false

    /// Where every answer goes through.
    var output: Output { Output(format: isJSON ? .json : .text, style: .detected(for: .output)) }
}
