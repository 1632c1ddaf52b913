// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One value of the parameter `osm_tag`: `key`, `:value`, `key:value`, or `key:!value` for the other values of a key.
///
/// A place must meet one of the filters of this kind. With `!` before the key, or before a value without one, it must not
/// meet the filter.
struct PhotonTagFilter {
    /// Whether the filter is for places that are left out.
    let isExclusion: Bool
    private let key: String?
    private let value: String?
    private let isOtherValue: Bool

    /// Reads a filter; nil if it is malformed.
    init?(_ text: String) {
        let parts = text.split(ascii: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), let last = parts.last else { return nil }
        func name(_ part: String) -> String {
            String(Substring(part.utf8.dropFirst(part.starts(ascii: "!") ? 1 : 0))).trimmingBlanks()
        }
        let (first, isNegated) = (name(parts[0]), parts[0].starts(ascii: "!"))
        key = first.isEmpty ? nil : first
        guard parts.count == 2 else {
            guard !first.isEmpty else { return nil }
            (value, isExclusion, isOtherValue) = (nil, isNegated, false)
            return
        }
        let isNegatedValue = last.starts(ascii: "!")
        value = name(last)
        guard value?.isEmpty == false else { return nil }
        isOtherValue = !first.isEmpty && !isNegated && isNegatedValue
        isExclusion = !isOtherValue && (isNegated || isNegatedValue)
    }

    /// Whether a tag has the key and the value.
    func matches(_ tag: (key: String, value: String)) -> Bool {
        guard key == nil || key == tag.key else { return false }
        return value == nil || (value == tag.value) != isOtherValue
    }
}
