// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Faults in the `config` of a leaf.
@Suite struct LeafFaultTests {
    @Test(arguments: [
        Fault(
            #"{"name": "a", "plugin": "segment"}"#,
            #"c.json:1:55: a: the plugin segment requires "writeKey" in "config" [missing-value]; set "writeKey": The source's key."#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {}}"#,
            #"c.json:1:76: a: the plugin segment requires "writeKey" in "config" [missing-value]; set "writeKey": The source's key."#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": ""}}"#,
            #"c.json:1:89: a: writeKey is required, but empty [missing-value]; set "writeKey": The source's key."#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "batch": "20", "gzip": 1}}"#,
            "c.json:1:103: a: batch must be an integer, not a string [wrong-type]",
            "c.json:1:117: a: gzip must be true or false, not an integer [wrong-type]"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "ratio": 1.5, "mode": "quick"}}"#,
            "c.json:1:103: a: ratio must be at most 1 [invalid-value]",
            #"c.json:1:116: a: mode must be one of "fast", "safe" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "endpoint": "ftp://x", "flush": "5"}}"#,
            "c.json:1:106: a: endpoint must be an absolute http or https URL [invalid-value]",
            #"c.json:1:126: a: flush must be a duration such as "250ms" or "5s" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "endpoint": "http://x.example "}}"#,
            "c.json:1:106: a: endpoint must be an absolute http or https URL, without blanks [invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "endpoint": "http://x.example:99999/"}}"#,
            "c.json:1:106: a: endpoint must be an absolute http or https URL, with a port from 1 to 65535 [invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "endpoint": "http://bücher.example"}}"#,
            "c.json:1:106: a: endpoint must be an absolute http or https URL, in ASCII: a name in another script begins with xn-- "
                + "[invalid-value]"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "sk-1"}}}"#,
            #"c.json:1:100: a: a secret must be "env:NAME", "file:PATH", "credential:NAME" or "exec:PROGRAM" [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "env:NOPE"}}}"#,
            "c.json:1:100: a: the environment variable NOPE, which contains a secret, is not set [missing-variable]; "
                + #"set it, or write {"secret": "file:PATH"}"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "file:/none"}}}"#,
            "c.json:1:100: a: the secret file /none does not exist [secret-unavailable]; "
                + "write the secret to that file, and chmod 600 it"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secrets": "env:X"}}}"#,
            #"c.json:1:90: a: unknown key "secrets" [unknown-key]; did you mean "secret"?"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "file:/none", "foo": 1}}}"#,
            #"c.json:1:114: a: unknown key "foo" [unknown-key]; known: secret, json"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "file:/dev/null", "$comment": "c"}}}"#,
            "c.json:1:100: a: the secret file /dev/null is not a regular file [secret-unavailable]; write its content to a file first"
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "${A"}}"#,
            #"c.json:1:89: a: "${" has no "}"; write "$${" for the characters themselves [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "${1A}"}}"#,
            #"c.json:1:89: a: "${1A}" is not a variable; write ${NAME} or ${NAME:-default} [invalid-value]"#
        ),
        Fault(
            #"{"name": "a", "plugin": "segment", "config": {"writeKey": "${A:-${B}}"}}"#,
            "c.json:1:89: a: the default of A cannot contain another variable [invalid-value]"
        ),
    ])
    func `the configuration of a leaf is checked against its plugin`(fault: Fault) {
        #expect(faults(connectors: fault.connectors) == fault.expected)
    }
}
