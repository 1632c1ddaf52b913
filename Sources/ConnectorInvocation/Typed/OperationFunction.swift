// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector

/// The C functions that many operations are, as `connector/operation.h` derives their types from a signature.
///
/// A ``TypedOperation`` of one of them is called like a Swift function: nothing unsafe is left for the author of a client, and
/// ``GateClient/typed(_:_:as:)`` compares the form with the signature too.
///
/// | form | signatures |
/// |---|---|
/// | ``Numbers1`` to ``Numbers3`` | `(a: f64) -> f64`, with one to three parameters |
/// | ``Integers1`` to ``Integers3`` | `(a: i64) -> i64`, with one to three parameters |
/// | ``Texts1`` to ``Texts3`` | `(a: string) async -> json`: each parameter, and the result if any, is a `string`, `json` or `bytes` |
///
/// For any other signature write the C type yourself, of the parts below.
public enum OperationFunction {
    /// The plugin's instance, which every function takes first.
    public typealias Instance = UnsafeMutableRawPointer?
    /// An asynchronous call, which its function takes second.
    public typealias Call = UnsafePointer<connector_call>
    /// Where a function explains its failure, which every function takes last.
    public typealias Failure = UnsafeMutablePointer<connector_error>
    /// The first byte of a text, or null for none; its length in bytes follows as a `UInt64`.
    public typealias Text = UnsafePointer<UInt8>?

    /// One number in, one out, at once.
    @safe
    public struct Numbers1: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// Two numbers in, one out, at once.
    @safe
    public struct Numbers2: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// Three numbers in, one out, at once.
    @safe
    public struct Numbers3: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, Double, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// One integer in, one out, at once.
    @safe
    public struct Integers1: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// Two integers in, one out, at once.
    @safe
    public struct Integers2: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// Three integers in, one out, at once.
    @safe
    public struct Integers3: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, Int64, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// One text in, at most one out, by completion.
    @safe
    public struct Texts1: Sendable {
        package let function: @convention(c) (Instance, Call, Text, UInt64, Failure) -> Int32
    }

    /// Two texts in, at most one out, by completion.
    @safe
    public struct Texts2: Sendable {
        package let function: @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Failure) -> Int32
    }

    /// Three texts in, at most one out, by completion.
    @safe
    public struct Texts3: Sendable {
        package let function:
            @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Text, UInt64, Failure) -> Int32
    }
}
