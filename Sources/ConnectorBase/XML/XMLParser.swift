// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Parses XML (XML 1.0 and Namespaces in XML 1.0, without document types) in one pass over its bytes, and locates errors.
///
/// A document type is refused, so no entity can be declared: nothing expands, and nothing else is read. Comments and
/// processing instructions are skipped. Time and memory are linear in the size of the text.
///
/// ``XMLStream`` parses a text that comes in parts.
struct XMLParser {
    /// The deepest nesting of elements.
    static let depthLimit = 64
    /// The most elements of a document.
    static let elementLimit = 1 << 18
    /// The most namespaces in scope at one element: an element that declares any copies them all.
    static let namespaceLimit = 256
    /// The most bytes from one child of the root to the end of the next, if the document comes in parts.
    static let childLimit = 1 << 20

    /// An element whose end tag has not been read yet.
    private struct Open {
        /// The name as written.
        var name: ArraySlice<UInt8>
        var element: XMLElement
        var text: [UInt8] = []
        /// The namespaces in scope, by prefix; the default namespace has an empty prefix.
        var namespaces: [String: String]
    }

    /// The text, from ``start``.
    private var bytes: [UInt8]
    /// The place of the first byte in the document.
    private var start = FilePosition(line: 1, column: 1)
    /// The number of bytes before it.
    private var discarded = 0
    /// The number of bytes up to the end of the last child of the root.
    private var endOfChild = 0
    /// Whether the text comes in parts.
    private var isInParts = false
    /// How many bytes of an incomplete token have been searched for its end, and the quote that is open after them.
    private var searched = 0
    private var quote: UInt8?
    private var index = 0
    private var count = 0
    private var open: [Open] = []
    private var root: XMLElement?

    /// Creates the parser of a text, or of its first part.
    init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    static func parse(_ bytes: [UInt8]) throws(ConnectorError) -> XMLElement {
        var parser = XMLParser(bytes)
        return try parser.document()
    }

    /// Parses the rest of the document, and checks that it has ended.
    mutating func document() throws(ConnectorError) -> XMLElement {
        try check(bytes[index...])
        skipByteOrderMark()
        while index < bytes.count { try token() }
        if let last = open.last { throw error("the element \(Self.quoted(last.name)) does not end") }
        guard let root else { throw error("there is no element") }
        return root
    }

    private func check(_ text: ArraySlice<UInt8>) throws(ConnectorError) {
        guard String(validating: text, as: UTF8.self) != nil else { throw error("the text is not UTF-8") }
    }

    private mutating func skipByteOrderMark() {
        if index == 0, start == FilePosition(line: 1, column: 1), bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            (index, searched) = (3, 0)
        }
    }

    /// Parses a tag, a comment or the text before the next one.
    private mutating func token() throws(ConnectorError) {
        if bytes[index] != UInt8(ascii: "<") {
            try addText()
        } else if consume("<!--") {
            _ = try skip(past: "-->", "a comment")
        } else if consume("<?") {
            _ = try skip(past: "?>", "a processing instruction")
        } else if consume("<![CDATA[") {
            let text = try skip(past: "]]>", "a CDATA section")
            guard !open.isEmpty else { throw error("there is text outside of the root element") }
            open[open.count - 1].text += text
        } else if consume("<!") {
            throw error("there is a document type, which is not allowed")
        } else if consume("</") {
            try endElement()
        } else {
            try startElement()
        }
    }

    // MARK: Parts

    /// The root element without its text, with the children that ``takeChildren()`` has not taken; nil before it begins.
    var partialRoot: XMLElement? { open.first?.element ?? root }

    /// Adds a part of the text, and parses what has come whole.
    mutating func add(_ part: [UInt8]) throws(ConnectorError) {
        isInParts = true
        start = position(at: index)
        discarded += index
        bytes.removeFirst(index)
        bytes += part
        index = 0
        skipByteOrderMark()
        while index < bytes.count, let end = endOfToken() {
            try check(bytes[index..<end])
            // Before the token, which may end the child.
            try checkSize(upTo: end)
            try token()
        }
        try checkSize(upTo: bytes.count)
    }

    /// Checks the size of the child of the root that has not ended.
    private func checkSize(upTo end: Int) throws(ConnectorError) {
        guard discarded + end - endOfChild <= Self.childLimit else {
            throw error("an element has more than \(Self.childLimit) bytes")
        }
    }

    /// Removes the children of the root that have ended, and the text between them.
    mutating func takeChildren() -> [XMLElement] {
        guard !open.isEmpty else {
            defer { root?.children = [] }
            return root?.children ?? []
        }
        defer {
            open[0].element.children = []
            open[0].text = []
        }
        return open[0].element.children
    }

    /// Where the next tag, comment or text ends; nil if the end has not come.
    private mutating func endOfToken() -> Int? {
        guard let end = searchEnd() else {
            searched = bytes.count - index
            return nil
        }
        (searched, quote) = (0, nil)
        return end
    }

    /// Searches the bytes that have not been searched yet.
    private mutating func searchEnd() -> Int? {
        let rest = bytes[index...]
        guard rest.first == UInt8(ascii: "<") else {
            return rest.dropFirst(searched).firstIndex(of: UInt8(ascii: "<"))
        }
        for (mark, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")] where rest.starts(with: mark.utf8) {
            // The searched bytes may end in the middle of the end.
            let start = max(mark.utf8.count, searched - end.utf8.count + 1)
            return rest.dropFirst(start).firstRange(of: Array(end.utf8))?.upperBound
        }
        for index in rest.dropFirst(searched).indices {
            switch rest[index] {
            case let byte where quote != nil: if byte == quote { quote = nil }
            case let byte where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: ">"): return index + 1
            default: break
            }
        }
        return nil
    }

    // MARK: Elements

    private mutating func startElement() throws(ConnectorError) {
        index += 1
        count += 1
        guard open.count < Self.depthLimit else {
            throw error("elements are nested more than \(Self.depthLimit) deep")
        }
        guard count <= Self.elementLimit else { throw error("there are more than \(Self.elementLimit) elements") }
        guard root == nil else { throw error("there is a second root element") }
        let name = try name()
        var namespaces = open.last?.namespaces ?? ["xml": "http://www.w3.org/XML/1998/namespace"]
        while true {
            let hasSpace = skipSpace()
            if consume(">") {
                let element = try element(name, namespaces)
                open.append(Open(name: name, element: element, namespaces: namespaces))
                return
            }
            if consume("/>") { return close(try element(name, namespaces)) }
            guard hasSpace else { throw error("expected a space, > or /> in the start of \(Self.quoted(name))") }
            let (attribute, value) = try attribute()
            if attribute == "xmlns" {
                namespaces[""] = value
            } else if attribute.utf8.starts(with: "xmlns:".utf8) {
                guard !value.isEmpty else {
                    throw error("the attribute \(Self.quoted(Array(attribute.utf8)[...])) is empty")
                }
                namespaces[String(attribute.dropFirst(6))] = value
            }
            guard namespaces.count <= Self.namespaceLimit else {
                throw error("there are more than \(Self.namespaceLimit) namespaces")
            }
        }
    }

    private mutating func endElement() throws(ConnectorError) {
        let name = try name()
        skipSpace()
        guard consume(">") else { throw error("expected > after </\(String(decoding: name, as: UTF8.self))") }
        guard var last = open.popLast() else { throw error("\(Self.quoted(name)) ends, and has not begun") }
        guard last.name == name else {
            throw error("\(Self.quoted(name)) ends before \(Self.quoted(last.name)), which is in it")
        }
        last.element.text = String(decoding: last.text, as: UTF8.self)
        close(last.element)
    }

    private mutating func close(_ element: XMLElement) {
        guard !open.isEmpty else {
            root = element
            return
        }
        open[open.count - 1].element.children.append(element)
        guard open.count == 1 else { return }
        endOfChild = discarded + index
        if isInParts { count = 0 }
    }

    /// An element with its prefix resolved.
    private func element(
        _ name: ArraySlice<UInt8>,
        _ namespaces: [String: String]
    ) throws(ConnectorError) -> XMLElement {
        let parts = name.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2 else { return XMLElement(namespace: namespaces[""] ?? "", name: parts[0]) }
        guard let namespace = namespaces[parts[0]], !parts[1].isEmpty else {
            throw error("the prefix of \(Self.quoted(name)) has no namespace")
        }
        return XMLElement(namespace: namespace, name: parts[1])
    }

    private mutating func attribute() throws(ConnectorError) -> (name: String, value: String) {
        let name = try name()
        skipSpace()
        guard consume("=") else { throw error("expected = after the attribute \(Self.quoted(name))") }
        skipSpace()
        let quote: String
        if consume("\"") {
            quote = "\""
        } else if consume("'") {
            quote = "'"
        } else {
            throw error("expected a quoted value of the attribute \(Self.quoted(name))")
        }
        let value = try skip(past: quote, "the value of the attribute \(Self.quoted(name))")
        guard !value.contains(UInt8(ascii: "<")) else { throw error("the value of \(Self.quoted(name)) has a <") }
        return (String(decoding: name, as: UTF8.self), String(decoding: try decoded(value), as: UTF8.self))
    }

    private mutating func name() throws(ConnectorError) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, Self.isNameByte(bytes[index]) { index += 1 }
        guard start < index, index - start <= 1024, !bytes[start].isDigit, !"-.".utf8.contains(bytes[start]) else {
            throw error("expected a name", at: start)
        }
        return bytes[start..<index]
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || "_-.:".utf8.contains(byte)
    }

    // MARK: Text

    private mutating func addText() throws(ConnectorError) {
        let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        let raw = bytes[index..<end]
        guard !open.isEmpty else {
            guard raw.allSatisfy(\.isWhitespace) else { throw error("there is text outside of the root element") }
            index = end
            return
        }
        open[open.count - 1].text += try decoded(raw)
        index = end
    }

    /// Replaces references (XML 1.0, section 4.1).
    private func decoded(_ raw: ArraySlice<UInt8>) throws(ConnectorError) -> ArraySlice<UInt8> {
        guard raw.contains(UInt8(ascii: "&")) else { return raw }
        var decoded: [UInt8] = []
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                decoded.append(byte)
                continue
            }
            let start = rest.startIndex - 1
            // The longest reference is that of a character: &#x10FFFF; with leading zeros.
            guard let end = rest.prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
                throw error("a & begins no reference", at: start)
            }
            let reference = String(decoding: rest[..<end], as: UTF8.self)
            guard let scalar = Self.scalar(reference) else {
                throw error("there is no reference &\(reference);", at: start)
            }
            decoded += Array(String(scalar).utf8)
            rest = rest[(end + 1)...]
        }
        return decoded[...]
    }

    /// The character that a reference stands for; nil if there is none.
    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard reference.utf8.first == UInt8(ascii: "#") else { return nil }
        let digits = reference.dropFirst()
        let isHexadecimal = digits.utf8.first == UInt8(ascii: "x")
        let number = isHexadecimal ? digits.dropFirst() : digits
        guard number.utf8.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
        guard let value = UInt32(number, radix: isHexadecimal ? 16 : 10), value > 0 else { return nil }
        return Unicode.Scalar(value)
    }

    // MARK: Bytes

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = index
        while index < bytes.count, bytes[index].isWhitespace { index += 1 }
        return index > start
    }

    private mutating func consume(_ mark: StaticString) -> Bool {
        let mark = mark.description.utf8
        guard bytes[index...].starts(with: mark) else { return false }
        index += mark.count
        return true
    }

    /// Moves past a mark, and returns what was before it.
    private mutating func skip(past mark: String, _ what: @autoclosure () -> String) throws(ConnectorError)
        -> ArraySlice<UInt8>
    {
        let start = index
        let mark = Array(mark.utf8)
        while index + mark.count <= bytes.count {
            if bytes[index] == mark[0], bytes[index...].starts(with: mark) {
                defer { index += mark.count }
                return bytes[start..<index]
            }
            index += 1
        }
        throw error("\(what()) does not end", at: start)
    }

    private static func quoted(_ name: ArraySlice<UInt8>) -> String {
        "<\(String(decoding: name.prefix(40), as: UTF8.self))>"
    }

    private func error(_ message: String, at offset: Int? = nil) -> ConnectorError {
        ConnectorError(.syntax, message, position: position(at: offset ?? index))
    }

    private func position(at offset: Int) -> FilePosition {
        var position = FilePosition(offset: offset, in: bytes)
        if position.line == 1 { position.column += start.column - 1 }
        position.line += start.line - 1
        return position
    }
}
