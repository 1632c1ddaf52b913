// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension HTTPRequest {
    /// What a request asks a server to do (RFC 9110, section 9): one of the methods below, or any other token.
    public struct Method: RawRepresentable, Sendable, Hashable {
        /// The name as sent; it is case-sensitive.
        public let rawValue: String

        /// Takes the name of any method.
        ///
        /// - Returns: Nil for what the host would refuse: a name that is not a token of 1 to 32 characters, and `CONNECT`, which opens a
        ///   tunnel.
        public init?(rawValue: String) {
            guard rawValue.isToken, rawValue.utf8.count <= 32, rawValue != "CONNECT" else { return nil }
            self.rawValue = rawValue
        }

        private init(_ name: String) {
            rawValue = name
        }

        /// Reads a resource.
        public static let get = Self("GET")
        /// Reads only the header.
        public static let head = Self("HEAD")
        /// Submits content.
        public static let post = Self("POST")
        /// Replaces a resource.
        public static let put = Self("PUT")
        /// Changes part of a resource (RFC 5789).
        public static let patch = Self("PATCH")
        /// Removes a resource.
        public static let delete = Self("DELETE")
        /// Reads the properties of a resource, and of a collection's members (RFC 4918).
        public static let propfind = Self("PROPFIND")
        /// Sets and removes properties (RFC 4918).
        public static let proppatch = Self("PROPPATCH")
        /// Makes a collection (RFC 4918).
        public static let mkcol = Self("MKCOL")
        /// Copies a resource to the place that the header `Destination` names (RFC 4918).
        public static let copy = Self("COPY")
        /// Moves a resource to the place that the header `Destination` names (RFC 4918).
        public static let move = Self("MOVE")
    }
}
