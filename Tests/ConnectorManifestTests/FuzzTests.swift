// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@Suite struct FuzzTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any value survives a round trip`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let value = random.value()
            #expect(try JSONValue(parsing: value.utf8()) == value)
            #expect(try JSONValue(parsing: value.utf8(pretty: true)) == value)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `the position of every part of a value is found`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let value = random.value()
            let text = value.utf8(pretty: true)
            try check(value, at: JSONPath(), in: text)
        }
    }

    private func check(_ value: JSONValue, at path: JSONPath, in text: [UInt8]) throws {
        let offset = offset(of: JSONLocator.position(of: path, in: text), in: text)
        #expect(begins(text[offset...], with: value), "\(path)")
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() { try check(element, at: path.appending(index), in: text) }
        case .object(let object):
            for member in object.members {
                let name = self.offset(
                    of: JSONLocator.position(of: path.appending(member.name), .name, in: text),
                    in: text
                )
                #expect(text[name...].starts(with: JSONValue.string(member.name).utf8()))
                try check(member.value, at: path.appending(member.name), in: text)
            }
        default: break
        }
    }

    /// Whether a text begins with a value, however the value is indented.
    private func begins(_ text: ArraySlice<UInt8>, with value: JSONValue) -> Bool {
        var rest = value.utf8()[...]
        var (isString, isEscaped) = (false, false)
        for byte in text {
            if !isString, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") { continue }
            guard let expected = rest.popFirst() else { break }
            guard byte == expected else { return false }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isString.toggle()
            } else {
                isEscaped = isString && byte == UInt8(ascii: "\\")
            }
        }
        return rest.isEmpty
    }

    /// The byte of a line and column.
    private func offset(of position: FilePosition, in text: [UInt8]) -> Int {
        var (line, column) = (1, 1)
        for (index, byte) in text.enumerated() {
            if line == position.line, column == position.column, byte & 0xC0 != 0x80 { return index }
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if index + 1 < text.count, text[index + 1] & 0xC0 != 0x80 {
                column += 1
            }
        }
        return text.count
    }

    @Test(arguments: 0..<16 as Range<UInt64>)
    func `no text traps the parser, and whatever it accepts survives a round trip`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 1000 + seed)
        let text = Array(completeManifest.utf8)
        var taken = 0
        for _ in 0..<400 {
            let mutated = random.mutate(text)
            do throws(ConnectorError) {
                let value = try JSONValue(parsing: mutated)
                taken += 1
                let again = try JSONValue(parsing: value.utf8())
                #expect(again == value)
            } catch {
                #expect(error.code == .syntax)
                #expect((error.position?.line ?? 0) >= 1)
            }
            _ = JSONLocator.position(
                of: JSONPath().appending("capabilities").appending("own/3").appending("add"),
                in: mutated
            )
        }
        #expect(taken > 0)
    }

    @Test(arguments: 0..<16 as Range<UInt64>)
    func `no text traps the reading of a manifest`(seed: UInt64) {
        var random = SeededGenerator(seed: 2000 + seed)
        let text = Array(completeManifest.utf8)
        for _ in 0..<300 {
            let (manifest, problems) = Manifest.read(random.mutate(text), file: "m")
            #expect(manifest != nil || !problems.isEmpty)
            #expect(problems.allSatisfy { [.invalidManifest, .signatureMismatch, .unsupported].contains($0.code) })
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `no changed members trap the reading of a manifest`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 3000 + seed)
        let whole = try #require(try JSONValue(parsing: completeManifest).object)
        for _ in 0..<300 {
            var object = whole
            for member in whole.members where Int.random(in: 0..<4, using: &random) == 0 {
                object[member.name] = random.replace(member.value)
            }
            let (manifest, problems) = Manifest.read(JSONValue.object(object).utf8(), file: "m")
            #expect(manifest != nil || !problems.isEmpty)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `no text traps the parser of signatures, and whatever it accepts survives a round trip`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 4000 + seed)
        let texts =
            CapabilityDefinition.all.flatMap(\.operations).map(\.signature)
            + ["(a: i32, b: out u8) -> (c: f64, d: handle)", "() -> cstring", "(x: bytes?) async -> string"]
        for _ in 0..<100 {
            for text in texts {
                let mutated = String(decoding: random.mutate(Array(text.utf8)), as: UTF8.self)
                guard let signature = try? Signature(parsing: mutated) else { continue }
                #expect(try Signature(parsing: signature.description) == signature)
            }
        }
    }

    @Test func `no text traps the smaller parsers`() {
        var random = SeededGenerator(seed: 5000)
        let texts = [
            "1.2.3-beta.1", "250ms", "https://key:pass@[::1]:8443/v1?q#f", "http://a.b-c.de:80/", "geocoder/1",
        ]
        for _ in 0..<2000 {
            for text in texts {
                let mutated = String(decoding: random.mutate(Array(text.utf8)), as: UTF8.self)
                if let version = SemanticVersion(mutated) { #expect(SemanticVersion(version.description) == version) }
                if let url = URLParts(mutated) { #expect(URLParts(url.description) == url) }
                if let id = CapabilityID(mutated) { #expect(id.description == mutated) }
                if let duration = Duration(parsing: mutated) { #expect(duration >= .zero) }
                #expect(suggestion(for: mutated, among: texts) != nil)
            }
        }
    }
}

extension SeededGenerator {
    /// The value with something else somewhere in it.
    fileprivate mutating func replace(_ value: JSONValue) -> JSONValue {
        guard Int.random(in: 0..<3, using: &self) > 0 else { return self.value() }
        switch value {
        case .array(var elements) where !elements.isEmpty:
            let index = Int.random(in: 0..<elements.count, using: &self)
            elements[index] = replace(elements[index])
            return .array(elements)
        case .object(var object) where !object.isEmpty:
            guard let member = object.members.randomElement(using: &self) else { return value }
            object[member.name] = replace(member.value)
            return .object(object)
        default: return self.value()
        }
    }
}
