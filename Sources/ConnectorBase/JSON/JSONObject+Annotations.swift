// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONObject {
    /// The object without the members whose names begin with `$`, such as a comment.
    ///
    /// Whoever reads a map whose names the file's author chooses reads this, so that such a name is skipped there as it is in objects
    /// whose members ``JSONReader/members(of:at:allowed:)`` checks.
    package var withoutAnnotations: JSONObject {
        guard members.contains(where: { $0.name.hasPrefix("$") }) else { return self }
        return JSONObject(unique: members.filter { !$0.name.hasPrefix("$") })
    }
}
