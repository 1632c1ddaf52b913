// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// Generates values of the types of signatures; the same seed and name generate the same values.
struct ValueGenerator {
    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameter name: Mixed into the seed, so that operations get different values.
    init(seed: UInt64, name: String) {
        // FNV-1a, so that a name gives the same values in every process.
        state = name.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Arguments for the `in` parameters of a signature; some optional ones are left out.
    mutating func arguments(for signature: Signature) -> JSONObject {
        var arguments = JSONObject()
        for parameter in signature.parameters where parameter.direction == .in {
            if parameter.isOptional, number(below: 3) == 0 { continue }
            arguments[parameter.name] = value(of: parameter.type)
        }
        return arguments
    }

    /// A value of a type; half of the integers are edges of the range.
    mutating func value(of type: ValueType) -> JSONValue {
        switch type {
        case .i8: signed(Int64(Int8.min), Int64(Int8.max))
        case .i16: signed(Int64(Int16.min), Int64(Int16.max))
        case .i32: signed(Int64(Int32.min), Int64(Int32.max))
        case .i64: signed(.min, .max)
        case .u8: signed(0, Int64(UInt8.max))
        case .u16: signed(0, Int64(UInt16.max))
        case .u32: signed(0, Int64(UInt32.max))
        case .u64: unsigned()
        case .f32: .number(pick([0, -0.0, 1, -1, 1e-45, 3e38, 0.1]))
        case .f64: .number(pick([0, -0.0, 1, -1, .leastNonzeroMagnitude, 1e308, 0.1, 9_007_199_254_740_992]))
        case .handle: .null
        case .string: .string(text(allowsNUL: true))
        case .cstring: .string(text(allowsNUL: false))
        case .bytes, .bytes32: .string(text(allowsNUL: true))
        case .json: json(depth: 3)
        }
    }

    private mutating func signed(_ least: Int64, _ most: Int64) -> JSONValue {
        let edges = [least, most, 0, 1, least == 0 ? 2 : -1, most - 1]
        if number(below: 2) == 0 { return .integer(pick(edges)) }
        guard least > .min || most < .max else { return .integer(Int64(bitPattern: next())) }
        let span = UInt64(bitPattern: most &- least)
        return .integer(least &+ Int64(bitPattern: span == .max ? next() : next() % (span &+ 1)))
    }

    /// A value of type `u64`; JSON carries those above `Int64.max` as digits in a string.
    private mutating func unsigned() -> JSONValue {
        guard number(below: 2) == 0 else { return signed(0, .max) }
        let values: [UInt64] = [.max, 1 << 63, next() | 1 << 63]
        return .string(String(pick(values)))
    }

    private mutating func text(allowsNUL: Bool) -> String {
        switch number(below: 10) {
        case 0: ""
        case 1: "example"
        case 2: String(repeating: "x", count: Int(number(below: 20_000)))
        case 3: "\u{1F469}\u{200D}\u{1F680} Zürich \u{202E}abc"
        case 4: "\"\\'`;--<&>%00{{secret:x}}${HOME}"
        case 5: "../../../../etc/passwd"
        case 6: allowsNUL ? "a\u{0}b" : "a\tb\r\nc"
        case 7: "%s%n%x%p"
        case 8: "{\"a\":[1,2,{"
        default: String((0..<number(below: 40)).map { _ in Character(UnicodeScalar(UInt8(32 + number(below: 95)))) })
        }
    }

    private mutating func json(depth: Int) -> JSONValue {
        switch number(below: depth == 0 ? 6 : 9) {
        case 0: return .null
        case 1: return .bool(number(below: 2) == 0)
        case 2: return signed(.min, .max)
        case 3: return .number(pick([0.5, -1e300, 1e-300]))
        case 4, 5: return .string(text(allowsNUL: true))
        case 6:
            return .array((0..<number(below: 5)).map { _ in json(depth: depth - 1) })
        default:
            let names = ["id", "event", "query", "limit", "type", "value", "name", "items", ""]
            var object = JSONObject()
            for _ in 0..<number(below: 5) { object[pick(names)] = json(depth: depth - 1) }
            return .object(object)
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(number(below: UInt64(values.count)))] }

    private mutating func number(below bound: UInt64) -> UInt64 { next() % bound }

    /// The next number of SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
