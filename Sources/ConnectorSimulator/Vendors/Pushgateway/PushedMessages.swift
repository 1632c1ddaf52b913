// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads Prometheus's protocol buffers, which its client for Go pushes: messages `io.prometheus.client.MetricFamily`, each after
/// its size.
///
/// Source: `metrics.proto` of prometheus/client_model, and the encoding of protocol buffers.
struct PushedMessages {
    /// A field of a message.
    private enum Value {
        /// An integer, or the bits of a floating-point number.
        case number(UInt64)
        /// A text or a message.
        case bytes(ArraySlice<UInt8>)
    }

    /// The fields of a message by number, in order.
    private struct Message {
        /// All occurrences of each field.
        var fields: [UInt64: [Value]] = [:]

        /// The last number of a field; 0 if there is none.
        func number(_ field: UInt64) -> UInt64 {
            if case .number(let number)? = fields[field]?.last { number } else { 0 }
        }

        /// The last floating-point number of a field.
        func double(_ field: UInt64) -> Double { Double(bitPattern: number(field)) }

        /// The last text of a field; empty if there is none.
        func text(_ field: UInt64) -> String {
            if case .bytes(let bytes)? = fields[field]?.last { String(decoding: bytes, as: UTF8.self) } else { "" }
        }

        /// The messages of a field.
        func messages(_ field: UInt64) throws(Refusal) -> [Message] {
            var messages: [Message] = []
            for case .bytes(let bytes) in fields[field] ?? [] { messages.append(try PushedMessages.message(bytes)) }
            return messages
        }
    }

    /// The bytes that have not been read.
    private var rest: ArraySlice<UInt8>

    /// The metrics in a body.
    static func metrics(in body: [UInt8], group: [String: String]) throws(Refusal) -> [String: PushedMetric] {
        var reader = PushedMessages(rest: body[...])
        var metrics: [String: PushedMetric] = [:]
        while !reader.rest.isEmpty {
            let family = try message(try reader.bytes())
            let (name, number) = (family.text(1), Int(clamping: family.number(3)))
            let type = PushedMetric.types.indices.contains(number) ? PushedMetric.types[number] : "untyped"
            for metric in try family.messages(4) {
                guard metric.fields[6] == nil else {
                    throw PushedMetric.inconsistent("pushed metrics must not have timestamps")
                }
                let labels = Dictionary(try metric.messages(1).map { ($0.text(1), $0.text(2)) }) { $1 }
                for (suffix, more, value) in try samples(of: metric) {
                    let type = suffix.isEmpty ? type : "untyped"
                    metrics[name + suffix, default: PushedMetric(type: type)]
                        .add(labels.merging(more) { $1 }, value, group: group)
                }
            }
        }
        return metrics
    }

    /// The samples that the text format would have: several for a summary or a histogram.
    private static func samples(
        of metric: Message
    ) throws(Refusal) -> [(suffix: String, labels: [String: String], value: Double)] {
        var samples: [(suffix: String, labels: [String: String], value: Double)] = []
        for field in [2, 3, 5] as [UInt64] { samples += try metric.messages(field).map { ("", [:], $0.double(1)) } }
        for summary in try metric.messages(4) {
            for part in try summary.messages(3) {
                samples.append(("", ["quantile": PushedMetric.text(of: part.double(1))], part.double(2)))
            }
            samples += [("_sum", [:], summary.double(2)), ("_count", [:], Double(summary.number(1)))]
        }
        for histogram in try metric.messages(7) {
            for part in try histogram.messages(3) where part.double(2) < .infinity {
                samples.append(("_bucket", ["le": PushedMetric.text(of: part.double(2))], Double(part.number(1))))
            }
            samples.append(("_bucket", ["le": "+Inf"], Double(histogram.number(1))))
            samples += [("_sum", [:], histogram.double(2)), ("_count", [:], Double(histogram.number(1)))]
        }
        return samples
    }

    // MARK: Encoding

    /// Reads the fields of a message.
    private static func message(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Message {
        var (reader, message) = (PushedMessages(rest: bytes), Message())
        while !reader.rest.isEmpty {
            let key = try reader.number()
            let value: Value =
                switch key & 7 {
                case 0: .number(try reader.number())
                case 1: .number(try reader.take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                case 2: .bytes(try reader.bytes())
                case 5: .number(try reader.take(4).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                default: throw malformed
                }
            message.fields[key >> 3, default: []].append(value)
        }
        return message
    }

    /// The refusal of bytes that are not a message.
    private static let malformed = Refusal(message: "proto: illegal wireType or length")

    /// Reads a number of seven bits a byte, the lowest first.
    private mutating func number() throws(Refusal) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { break }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw Self.malformed
    }

    /// Reads bytes after their number.
    private mutating func bytes() throws(Refusal) -> ArraySlice<UInt8> {
        try take(Int(clamping: number()))
    }

    /// Reads a number of bytes.
    private mutating func take(_ count: Int) throws(Refusal) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw Self.malformed }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
