// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The precedence of a sequence of providers: lower than a group, so `a >><< b >>>> c` groups first.
precedencegroup ProviderSequencePrecedence {
    associativity: left
    higherThan: AssignmentPrecedence
    lowerThan: TernaryPrecedence
}

/// The precedence of a group of providers: higher than a sequence.
precedencegroup ProviderGroupPrecedence {
    associativity: left
    higherThan: ProviderSequencePrecedence
    lowerThan: TernaryPrecedence
}

/// Feeds the output of the left provider to the right one.
infix operator >>>> : ProviderSequencePrecedence

/// Calls both providers concurrently and returns both outputs.
infix operator >><< : ProviderGroupPrecedence

/// Feeds the output of `first` to `second`; by name, ``DataProvider/followed(by:)``.
///
/// - Parameters:
///   - first: The provider to call first.
///   - second: The provider to call with the output of `first`.
/// - Returns: A provider with the parameters of `first` and the output of `second`.
public func >>>> <First, Second>(first: First, second: Second) -> SequenceProvider<First, Second> {
    first.followed(by: second)
}

/// Calls two providers concurrently, and more when chained; by name, ``group(_:)``.
///
/// A chain returns a flat tuple: `a >><< b >><< c` returns `(A, B, C)`. A group on the right side stays one member:
/// `a >><< (b >><< c)` returns `(A, (B, C))`.
///
/// Assign a chain of three or more to a constant or an argument before calling methods on it. In generic code whose
/// left side is `some DataProvider`, call ``group(_:)`` instead: the compiler cannot look up the members there.
///
/// - Parameters:
///   - first: A provider, or the group so far.
///   - last: The member whose output comes last.
/// - Returns: A provider whose parameters and output are flat tuples.
public func >><< <First: DataProvider, each Member, Last>(
    first: First,
    last: Last
) -> GroupProvider<repeat each Member, Last> where First.Grouped == GroupProvider<repeat each Member> {
    // One overload, whose left side is a plain type with its members looked up: with an overload that takes a
    // `GroupProvider<repeat each Member>` the compiler cannot chain two packs in one expression,
    // https://github.com/swiftlang/swift/issues/78725.
    first.grouped.adding(last)
}
