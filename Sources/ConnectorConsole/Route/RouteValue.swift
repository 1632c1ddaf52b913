// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place in the application, as a value of the application's own type that a route carries.
///
/// ```swift
/// enum SiteRoute: RouteValue {
///     case list
///     case detail(Site.ID)
///
///     static let root = "sites"
///     var parts: [String] { if case .detail(let id) = self { [id] } else { [] } }
///     init?(parts: [String]) {
///         guard parts.count < 2 else { return nil }
///         self = parts.first.map { .detail($0) } ?? .list
///     }
/// }
/// ```
///
/// It must survive conversion to text and back, because a route is a URL in a browser. A value that contains another one prepends
/// a part to the parts of the inner value.
public protocol RouteValue: Sendable, Hashable {
    /// The first part of its routes, which names the tab.
    static var root: String { get }
    /// The parts after the root; none for the scene that the tab opens. Empty parts are dropped.
    var parts: [String] { get }

    /// Creates a value from the parts after the root; nil if there is no such place.
    init?(parts: [String])
}

extension Route {
    /// The route of a value.
    public init<Value: RouteValue>(_ value: Value) { self.init([Value.root] + value.parts) }

    /// The value that the route carries; nil if it carries none of this type.
    public func value<Value: RouteValue>(as type: Value.Type = Value.self) -> Value? {
        root == Value.root ? Value(parts: Array(parts.dropFirst())) : nil
    }
}
