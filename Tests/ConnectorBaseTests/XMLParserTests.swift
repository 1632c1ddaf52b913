// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorBase

/// Documents as servers send them, and as attackers do.
@Suite struct XMLParserTests {
    private func parse(_ text: String) throws(ConnectorError) -> XMLElement {
        try XMLElement(parsing: Array(text.utf8))
    }

    @Test func `elements, text and namespaces are read`() throws {
        let document = try parse(
            """
            \u{FEFF}<?xml version="1.0" encoding="utf-8"?>
            <!-- <no> --><D:multistatus xmlns:D='DAV:' xmlns="urn:a"><D:response >
            <D:href>/a%20b?x=1&amp;y=2</D:href><b/><c xmlns="urn:c"><d x = "1 > 2"/></c><e xmlns=""/></D:response>
            </D:multistatus >
            <?end?>
            """
        )
        #expect(document.namespace == "DAV:" && document.name == "multistatus")
        let response = try #require(document["response"])
        #expect(response["href"]?.text == "/a%20b?x=1&y=2")
        #expect(response.children.map(\.namespace) == ["DAV:", "urn:a", "urn:c", ""])
        #expect(response["c"]?["d"]?.namespace == "urn:c")
    }

    @Test(arguments: [
        ("a&lt;b&gt;&amp;&quot;&apos;", "a<b>&\"'"), ("&#65;&#x42;&#x1F6B2;", "AB🚲"),
        ("<![CDATA[<&amp;]]>]]", "<&amp;]]"), ("é\n \t", "é\n \t"), ("a<!-- x -->b<?p?>c<i>d</i>e", "abce"),
        ("&amp;lt;", "&lt;"),
    ])
    func `text is decoded once`(text: String, expected: String) throws {
        #expect(try parse("<r>\(text)</r>").text == expected)
    }

    @Test func `escaped text reads back unchanged`() throws {
        let text = "a <b> & \"c\" 'd'\t\r\n é🚲 ]]>"
        #expect(try parse("<r>\(XMLElement.escaped(text))</r>").text == text)
        #expect(XMLElement.escaped("\u{0}\u{1B}") == "\u{FFFD}\u{FFFD}")
    }

    @Test(arguments: [
        ("", "1:1", "no element"), ("<a>", "1:4", "<a> does not end"), ("<a>\n</b>", "2:5", "<b> ends before <a>"),
        ("<a/><b/>", "1:6", "second root"), ("</a>", "1:5", "has not begun"), ("x<a/>", "1:1", "outside"),
        ("<a/>x", "1:5", "outside"), ("<a>&b;</a>", "1:4", "&b;"), ("<a>&#0;</a>", "1:4", "&#0;"),
        ("<a>&#xD800;</a>", "1:4", "&#xD800;"), ("<a>& b</a>", "1:4", "begins no reference"),
        ("<a b></a>", "1:5", "expected ="), ("<a b=c/>", "1:6", "quoted value"), ("<a b='c/>", "1:7", "does not end"),
        ("<a b='c'd='e'/>", "1:9", "expected a space"), ("<x:a/>", "1:7", "no namespace"), ("<1/>", "1:2", "a name"),
        ("<a><!-- </a>", "1:8", "comment does not end"), ("<a><![CDATA[", "1:13", "CDATA section does not end"),
        ("<!DOCTYPE a [<!ENTITY b \"bb\">]><a>&b;</a>", "1:3", "document type"), ("<a", "1:3", "expected a space"),
        ("<a xmlns:b=''/>", "1:14", "<xmlns:b> is empty"),
    ])
    func `malformed XML is refused with its position`(text: String, position: String, words: String) {
        let error = #expect(throws: ConnectorError.self) { try parse(text) }
        #expect(error?.code == .syntax)
        #expect(error?.position?.description == position)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: ConnectorError.self) {
            try XMLElement(parsing: Array("<a>".utf8) + [0xFF] + Array("</a>".utf8))
        }
    }

    @Test func `depth and number of elements are bounded`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        _ = try parse(nested(XMLParser.depthLimit))
        #expect(throws: ConnectorError.self) { try parse(nested(XMLParser.depthLimit + 1)) }
        #expect(throws: ConnectorError.self) { try parse(String(repeating: "<a>", count: 1 << 20)) }
        let many = String(repeating: "<a/>", count: XMLParser.elementLimit)
        #expect(throws: ConnectorError.self) { try parse("<r>\(many)</r>") }
    }

    @Test func `the number of namespaces is bounded`() throws {
        func declaring(_ count: Int) -> String {
            let namespaces = (0..<count).map { " xmlns:n\($0)=\"urn:\($0)\"" }.joined()
            return "<r\(namespaces)><a xmlns:n0=\"urn:a\"/><a xmlns:n0=\"urn:b\"/></r>"
        }
        // Every document declares the prefix xml by itself.
        _ = try parse(declaring(XMLParser.namespaceLimit - 1))
        let error = #expect(throws: ConnectorError.self) { try parse(declaring(XMLParser.namespaceLimit)) }
        #expect(error?.message.contains("namespaces") == true)
    }

    // MARK: Parts

    /// The children of the root of a document that comes in parts of a size.
    private func children(_ bytes: [UInt8], partsOf size: Int) throws(ConnectorError) -> [XMLElement] {
        var stream = XMLStream()
        var children: [XMLElement] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            children += try stream.add(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        try stream.end()
        return children
    }

    @Test func `a document in parts is the same, wherever it is cut`() throws {
        let bytes = Array(
            "\u{FEFF}<?xml version='1.0'?><!-- > --><r a=\"'>\">é<a b='>'>1&amp;<![CDATA[<]>]]></a>\n<b/><c><d>ü</d></c></r>\n"
                .utf8
        )
        let whole = try XMLElement(parsing: bytes).children
        #expect(whole.map(\.name) == ["a", "b", "c"])
        for size in 1...bytes.count { #expect(try children(bytes, partsOf: size) == whole, "parts of \(size) bytes") }
    }

    @Test(arguments: ["<r>\n<a/>é\n<b></c></r>", "<r>\n<a>\n&x;</a></r>", "<r><a/></r>\n<r/>", "<r>\n<a>", ""])
    func `malformed XML in parts is refused with its position in the whole`(text: String) {
        let whole = #expect(throws: ConnectorError.self) { try parse(text) }
        for size in 1...max(1, text.utf8.count) {
            let error = #expect(throws: ConnectorError.self) { try children(Array(text.utf8), partsOf: size) }
            #expect(error?.position == whole?.position && error?.message == whole?.message, "parts of \(size) bytes")
        }
    }

    @Test func `a document in parts may have any number of children, and each has a limited size`() throws {
        let many = Array("<r>\(String(repeating: "<a/>", count: XMLParser.elementLimit))</r>".utf8)
        #expect(try children(many, partsOf: 1 << 16).count == XMLParser.elementLimit)
        let long = Array("<r><a>\(String(repeating: "x", count: XMLParser.childLimit))</a></r>".utf8)
        #expect(throws: ConnectorError.self) { try children(long, partsOf: 1 << 16) }
    }

    @Test func `a damaged document is either read or refused with a position`() {
        let document = Array(
            #"<?xml version="1.0"?><r xmlns:d="DAV:"><!-- c --><d:a b="1">x&amp;y<![CDATA[z]]></d:a><e/></r>"#.utf8
        )
        for round in 0..<UInt64(fuzzRounds) * 20 {
            var random = SeededGenerator(seed: fuzzSeed &* 1_000_003 &+ round)
            var bytes = document
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1 where bytes.count > 1: bytes.remove(at: place)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                }
            }
            do {
                _ = try XMLElement(parsing: bytes)
            } catch {
                #expect(error.code == .syntax && error.position != nil)
            }
        }
    }
}
