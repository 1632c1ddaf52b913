// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension SimulatedRequest {
    /// The status that refuses a resource which does not meet the request's conditions (RFC 9110, section 13.2.2).
    ///
    /// It is 304 for a client that reads what it has already, else 412; nil if the conditions are met.
    ///
    /// - Parameters:
    ///   - tag: The strong entity tag of the resource, with quotes; nil if it has none.
    ///   - modified: The last change of the resource; nil if there is no resource.
    ///   - prefix: The beginning of the fields' names.
    ///   - takesBareTags: Whether a tag may be without its quotes.
    func refusal(
        tag: String?,
        modified: Timestamp?,
        prefix: String = "",
        takesBareTags: Bool = false
    ) -> Int? {
        let fields = request.fields
        func names(_ field: String, weakly: Bool) -> Bool {
            guard modified != nil else { return false }
            guard field != "*" else { return true }
            guard let own = EntityTag.tag(tag) else { return false }
            return field.split(ascii: ",").contains { text in
                let isQuoted = text.trimmingBlanks().hasSuffix("\"")
                guard takesBareTags || isQuoted, let given = EntityTag.tag(String(text)) else { return false }
                return (weakly ? EntityTag.opaque(given) : given) == own
            }
        }
        func isChanged(since name: String) -> Bool? {
            guard let modified, let time = fields[prefix + name].flatMap({ Timestamp(httpDate: $0) }) else {
                return nil
            }
            return time.nanoseconds / 1_000_000_000 < modified.nanoseconds / 1_000_000_000
        }
        let isRead = request.method == "GET"
        if let field = fields["\(prefix)If-Match"] {
            if !names(field, weakly: false) { return 412 }
        } else if isChanged(since: "If-Unmodified-Since") == true {
            return 412
        }
        if let field = fields["\(prefix)If-None-Match"] {
            return names(field, weakly: true) ? (isRead ? 304 : 412) : nil
        }
        // Without a prefix, this field is for reads only; with one, for the resource that another method reads.
        guard isRead || !prefix.isEmpty, isChanged(since: "If-Modified-Since") == false else { return nil }
        return isRead ? 304 : 412
    }
}
