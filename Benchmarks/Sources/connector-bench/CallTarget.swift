// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorHost
internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A gate whose operations are called, and the same functions as C finds them.
@safe struct CallTarget {
    /// The C type of `invert`.
    typealias Invert =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<UInt8>, UInt64, UnsafeMutablePointer<UInt8>, UInt64,
            UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<connector_error>
        ) -> Int32

    /// The C type of `answer`.
    typealias Answer =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafePointer<UInt8>?, UInt64,
            UnsafeMutablePointer<connector_error>
        ) -> Int32

    /// Keeps the gate open.
    let host: ConnectorHost
    /// The gate.
    let gate: GateClient
    /// Two integers in, their sum out.
    let add: TypedOperation<OperationFunction.Integers2>
    /// Bytes in, and as many out, both in the caller's memory.
    let invert: TypedOperation<Invert>
    /// Completes inside the call with what it was given.
    let answer: TypedOperation<Answer>
    /// `quick_add` and `quick_invert`, from an image that C has loaded itself.
    let functions: (add: UnsafeMutableRawPointer, invert: UnsafeMutableRawPointer)

    /// Opens the gate of the folder with one plugin.
    init(files: String) async throws {
        host = try ConnectorHost(file: "\(files)/1/connectors.json")
        try await host.open().requireReady()
        gate = try host.gate("gate-0000")
        add = try gate.typed("add", "(a: i64, b: i64) -> i64", as: OperationFunction.Integers2.self)
        unsafe invert = try gate.typed("invert", "(bytes: bytes, into: out bytes)", as: Invert.self)
        unsafe answer = try gate.typed("answer", "(request: json) async -> json", as: Answer.self)
        let path = "\(files)/1/plugins/libquick-0000.so"
        guard let image = unsafe dlopen(path, RTLD_NOW), let addition = unsafe dlsym(image, "quick_add"),
            let inversion = unsafe dlsym(image, "quick_invert")
        else { throw Failure("\(path) cannot be loaded") }
        unsafe functions = (addition, inversion)
    }
}
