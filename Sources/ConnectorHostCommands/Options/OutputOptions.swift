// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The output options of a command.
struct OutputOptions: ParsableArguments {
    /// Whether to print JSON.
    @Flag(name: .customLong("json"), help: "Print one JSON document on standard output.")
    var isJSON = false

    /// Whether the command prints several JSON documents, so that each must be one line.
    var isLinewise = false

    /// Creates options for the parser to set; they cannot be read before that.
    init() {}

    /// Creates the options of a command that does not take them on its command line.
    init(isJSON: Bool, isLinewise: Bool = false) {
        self.isJSON = isJSON
        self.isLinewise = isLinewise
    }

    /// Writes the answers of the command.
    var output: Output { Output(format: isJSON ? .json : .text, style: .detected(for: .output)) }
}
