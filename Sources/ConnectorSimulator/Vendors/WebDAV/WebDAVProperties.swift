// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension XMLElement {
    /// Whether another element has the same name in the same namespace.
    func hasName(of other: XMLElement) -> Bool { name == other.name && namespace == other.namespace }
}

/// The properties of a file or a collection, as answers show them.
struct WebDAVProperties {
    private let href: String
    private let properties: [XMLElement]

    init(_ resource: WebDAVStore.Resource, at path: [ExactText], _ request: SimulatedRequest) {
        var href = path.reduce(request.prefix) { "\($0)/\(PercentCoding.encode($1.text))" }
        if resource.isCollection { href += "/" }
        self.href = href
        func live(_ name: String, _ text: String) -> XMLElement {
            XMLElement(namespace: "DAV:", name: name, text: text)
        }
        var properties = [live("getlastmodified", resource.modified.httpDate), live("resourcetype", "")]
        if let content = resource.content {
            properties += [
                live("getcontentlength", "\(content.count)"), live("getetag", resource.tag),
                live("getcontenttype", resource.contentType ?? "application/octet-stream"),
            ]
        } else {
            properties[1].children = [live("collection", "")]
        }
        self.properties = properties + resource.properties
    }

    /// The `response` element.
    ///
    /// - Parameters:
    ///   - names: The properties to include; nil for all.
    ///   - withValues: Whether to include their values. Without them, properties that do not exist count as found.
    func response(_ names: [XMLElement]?, withValues: Bool = true) -> String {
        var (found, missing) = ("", "")
        for name in names ?? properties {
            let bare = XMLElement(namespace: name.namespace, name: name.name)
            if !withValues {
                found += Self.text(bare)
            } else if let property = properties.first(where: name.hasName(of:)) {
                found += Self.text(property)
            } else {
                missing += Self.text(bare)
            }
        }
        var response = "<d:response><d:href>\(XMLElement.escaped(href))</d:href>"
        if !found.isEmpty { response += Self.part(found, "200 OK") }
        if !missing.isEmpty { response += Self.part(missing, "404 Not Found") }
        return response + "</d:response>"
    }

    /// Whether a property has a value that no client may set.
    static func isProtected(_ property: XMLElement) -> Bool {
        property.namespace == "DAV:" && protected.contains(property.name)
    }

    private static let protected: Set = [
        "creationdate", "getcontentlength", "getcontenttype", "getetag", "getlastmodified", "lockdiscovery",
        "resourcetype", "supportedlock",
    ]

    /// The `response` element for changes that are not made, because some of them are of protected properties.
    func refusal(of names: [XMLElement]) -> String {
        func text(_ names: [XMLElement]) -> String {
            names.map { Self.text(XMLElement(namespace: $0.namespace, name: $0.name)) }.joined()
        }
        let others = text(names.filter { !Self.isProtected($0) })
        var response = "<d:response><d:href>\(XMLElement.escaped(href))</d:href>"
        response += Self.part(text(names.filter(Self.isProtected)), "403 Forbidden")
        if !others.isEmpty { response += Self.part(others, "424 Failed Dependency") }
        return response + "</d:response>"
    }

    private static func part(_ properties: String, _ status: String) -> String {
        "<d:propstat><d:prop>\(properties)</d:prop><d:status>HTTP/1.1 \(status)</d:status></d:propstat>"
    }

    private static func text(_ element: XMLElement) -> String {
        let children = element.children.map(text).joined()
        let namespace = XMLElement.escaped(element.namespace)
        return
            #"<\#(element.name) xmlns="\#(namespace)">\#(XMLElement.escaped(element.text))\#(children)</\#(element.name)>"#
    }
}
