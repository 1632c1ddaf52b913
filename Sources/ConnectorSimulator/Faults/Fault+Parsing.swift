// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Fault: CustomStringConvertible {
    /// The names of all settings, for messages.
    private static let settings = [
        "status=CODE", "code=CODE", "reset", "truncated", "garbage", "portal", "empty", "slow=DURATION",
        "header=NAME:VALUE", "retry-after=SECONDS", "times=N", "method=NAME", "path=PREFIX",
    ]

    /// Parses the text of a fault.
    ///
    /// - Parameter vendors: The names that a target may have.
    public init(_ specification: String, vendors: [String]) throws(FaultError) {
        let parts = specification.split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw FaultError(
                specification: specification,
                reason: "expected TARGET:SETTING[,SETTING…], for instance segment:status=503,times=2"
            )
        }
        let target = parts[0].trimmingBlanks()
        guard target == "*" || vendors.contains(target) else {
            let known = vendors.joined(separator: ", ")
            throw FaultError(
                specification: specification,
                reason: "no vendor \"\(target)\" is served; use \(known) or * for all of them"
            )
        }
        self.init(vendor: target == "*" ? nil : target)
        for setting in Self.separated(parts[1]) {
            do {
                try apply(setting)
            } catch {
                throw FaultError(specification: specification, reason: error.text)
            }
        }
        if answer == .unchanged, delay == .zero, headers.fields.isEmpty {
            throw FaultError(
                specification: specification,
                reason: "nothing would go wrong; add one of status=CODE, code=CODE, reset, truncated, garbage, portal, "
                    + "empty, slow=DURATION, header=NAME:VALUE"
            )
        }
    }

    /// The text form. Parsing it yields an equal fault, if text can express it.
    public var description: String {
        var settings: [String] = []
        switch answer {
        case .unchanged: break
        case .failure(let status, let code):
            if let status { settings.append("status=\(status)") }
            if let code { settings.append("code=\(code)") }
        case .reset, .truncated, .garbage, .portal, .empty: settings.append("\(answer)")
        }
        if delay > .zero { settings.append("slow=\(delay.nanoseconds / 1_000_000)ms") }
        settings += headers.fields.map { "header=\($0.name):\($0.value)" }
        if let times { settings.append("times=\(times)") }
        if let method { settings.append("method=\(method)") }
        if let path { settings.append("path=\(path)") }
        return "\(vendor ?? "*"):\(settings.map(Self.escaped).joined(separator: ","))"
    }

    /// The settings that commas separate; `\,` is a comma within one.
    private static func separated(_ text: Substring) -> [String] {
        var settings: [String] = []
        for part in text.split(ascii: ",", omittingEmptySubsequences: false) {
            if let last = settings.indices.last, settings[last].utf8.last == UInt8(ascii: "\\") {
                settings[last].unicodeScalars.removeLast()
                settings[last] += ",\(part)"
            } else {
                settings.append(String(part))
            }
        }
        return settings
    }

    /// One setting in the form that ``separated(_:)`` reads.
    private static func escaped(_ setting: String) -> String {
        setting.split(ascii: ",", omittingEmptySubsequences: false).joined(separator: "\\,")
    }

    /// A problem with one setting.
    private struct SettingError: Error {
        var text: String
    }

    /// Applies one setting, `name` or `name=value`.
    private mutating func apply(_ setting: String) throws(SettingError) {
        let pair = setting.split(ascii: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = pair[0].trimmingBlanks()
        let value = pair.count > 1 ? pair[1].trimmingBlanks() : nil
        switch name {
        case "reset": try set(.reset, name, value)
        case "truncated": try set(.truncated, name, value)
        case "garbage": try set(.garbage, name, value)
        case "portal": try set(.portal, name, value)
        case "empty": try set(.empty, name, value)
        case "status": try fail(status: Self.number(name, value, in: 200...599), code: nil)
        case "code": try fail(status: nil, code: Self.text(name, value))
        case "slow": delay = try Self.duration(name, value)
        case "times": times = try Self.number(name, value, in: 1...1_000_000)
        case "retry-after": headers.append("Retry-After", String(try Self.number(name, value, in: 0...86_400)))
        case "header": try addHeader(Self.text(name, value))
        case "method": method = try Self.text(name, value).uppercased()
        case "path": path = try Self.text(name, value)
        default:
            throw SettingError(text: "unknown setting \"\(name)\"; there are \(Self.settings.joined(separator: ", "))")
        }
    }

    /// Sets an answer that takes no value; throws if another answer is already set.
    private mutating func set(_ answer: Answer, _ name: String, _ value: String?) throws(SettingError) {
        guard value == nil else { throw SettingError(text: "\(name) takes no value") }
        guard self.answer == .unchanged else { throw SettingError(text: "\(name) contradicts another setting") }
        self.answer = answer
    }

    /// Sets an error answer, or adds to the one already set.
    private mutating func fail(status: Int?, code: String?) throws(SettingError) {
        switch answer {
        case .unchanged: answer = .failure(status: status, code: code)
        case .failure(let oldStatus, let oldCode):
            answer = .failure(status: status ?? oldStatus, code: code ?? oldCode)
        case .reset, .truncated, .garbage, .portal, .empty:
            throw SettingError(text: "status and code contradict reset, truncated, garbage, portal and empty")
        }
    }

    /// Adds the header `NAME:VALUE`; throws for characters that a header may not contain.
    private mutating func addHeader(_ text: String) throws(SettingError) {
        let pair = text.split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, !pair[0].isEmpty,
            pair[0].utf8.allSatisfy({ $0.isLetterOrDigit || "-_.".utf8.contains($0) }),
            pair[1].utf8.allSatisfy(\.isPrintable)
        else { throw SettingError(text: "header takes NAME:VALUE, for instance header=Backoff:10") }
        headers.append(String(pair[0]), pair[1].trimmingBlanks())
    }

    /// The value of a setting that needs one.
    private static func text(_ name: String, _ value: String?) throws(SettingError) -> String {
        guard let value, !value.isEmpty else { throw SettingError(text: "\(name) takes a value: \(name)=…") }
        return value
    }

    /// Parses a whole number within `range`.
    private static func number(
        _ name: String,
        _ value: String?,
        in range: ClosedRange<Int>
    ) throws(SettingError) -> Int {
        let text = try text(name, value)
        guard let number = Int(text), range.contains(number) else {
            throw SettingError(
                text: "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\""
            )
        }
        return number
    }

    /// Parses a duration such as `250ms`, `2s`, `1.5s` or `1m`, at most an hour.
    private static func duration(_ name: String, _ value: String?) throws(SettingError) -> Duration {
        let text = try text(name, value)
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60)]
        for unit in units where text.hasSuffix(unit.suffix) {
            let most = Double(Fault.longestDelay.components.seconds)
            guard let number = Double(text.dropLast(unit.suffix.count)), number >= 0, number * unit.seconds <= most
            else { break }
            return .milliseconds(Int64((number * unit.seconds * 1000).rounded()))
        }
        throw SettingError(
            text: "\(name) takes a duration up to an hour, for instance 250ms, 2s or 1m, not \"\(text)\""
        )
    }
}
