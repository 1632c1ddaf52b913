// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector

/// The C function types of common operations, derived from their signatures by the rules of `connector/operation.h`.
///
/// A ``TypedOperation`` with one of them is called like a Swift function, without unsafe code in the client.
/// ``GateClient/typed(_:_:as:)`` checks that the type matches the signature.
///
/// | form | signatures |
/// |---|---|
/// | ``Numbers1`` to ``Numbers3`` | `(a: f64) -> f64`, with one to three parameters |
/// | ``Integers1`` to ``Integers3`` | `(a: i64) -> i64`, with one to three parameters |
/// | ``Texts1`` to ``Texts3`` | `(a: string) async -> json`: each parameter, and the result if any, is a `string`, `json` or `bytes` |
///
/// For any other signature, build the C type from the parts below.
public enum OperationFunction {
    /// The plugin's instance, the first parameter of every function.
    public typealias Instance = UnsafeMutableRawPointer?
    /// An asynchronous call, the second parameter of its function.
    public typealias Call = UnsafePointer<connector_call>
    /// The error object, the last parameter of every function.
    public typealias Failure = UnsafeMutablePointer<connector_error>
    /// The first byte of a text, or null for none; its length in bytes follows as a `UInt64`.
    public typealias Text = UnsafePointer<UInt8>?

    /// A synchronous function from one number to a number.
    @safe
    public struct Numbers1: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// A synchronous function from two numbers to a number.
    @safe
    public struct Numbers2: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// A synchronous function from three numbers to a number.
    @safe
    public struct Numbers3: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Double, Double, Double, UnsafeMutablePointer<Double>, Failure) -> Int32
    }

    /// A synchronous function from one integer to an integer.
    @safe
    public struct Integers1: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// A synchronous function from two integers to an integer.
    @safe
    public struct Integers2: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// A synchronous function from three integers to an integer.
    @safe
    public struct Integers3: Sendable {
        @usableFromInline package let function:
            @convention(c) (Instance, Int64, Int64, Int64, UnsafeMutablePointer<Int64>, Failure) -> Int32
    }

    /// An asynchronous function from one text to at most one text.
    @safe
    public struct Texts1: Sendable {
        package let function: @convention(c) (Instance, Call, Text, UInt64, Failure) -> Int32
    }

    /// An asynchronous function from two texts to at most one text.
    @safe
    public struct Texts2: Sendable {
        package let function: @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Failure) -> Int32
    }

    /// An asynchronous function from three texts to at most one text.
    @safe
    public struct Texts3: Sendable {
        package let function:
            @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Text, UInt64, Failure) -> Int32
    }
}
