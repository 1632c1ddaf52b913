// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Every error code, explained; `docs/reference/errors.md` has the same text.
extension ErrorExplanation {
    /// The explanations, in the order of the documentation.
    static let all: [ErrorExplanation] = files + plugins + configuration + gates

    private static let files = group(
        "Files and their text",
        .init(
            "not-found",
            "A file or a directory does not exist.",
            causes: [
                "the path is relative to another directory than the one meant: paths in connectors.json are relative to the file that holds them, paths of arguments to the working directory"
            ],
            fixes: ["check the path that the message names; connector-host validate shows the place in the file"]
        ),
        .init(
            "unreadable",
            "A file exists but cannot be read.",
            causes: [
                "the user that runs the host has no permission", "the path names a directory, a pipe or a device",
            ],
            fixes: ["give the host's user permission to read the file, or name a regular file"]
        ),
        .init(
            "syntax",
            "A text does not follow its format: JSON, a signature of an operation, a version, a URL.",
            causes: ["a comma, a quotation mark or a bracket is missing just before the position"],
            fixes: [
                "look at the line and column of the message; an editor that knows connectors.schema.json shows such faults as you type"
            ]
        )
    )

    private static let plugins = group(
        "Plugins, before any of their code runs",
        .init(
            "not-elf",
            "The file is not a shared library of this platform.",
            causes: ["a text file, an archive or an image of another platform has the name of a plugin"],
            fixes: ["build the plugin as a shared library: cc -shared -fPIC"]
        ),
        .init(
            "truncated",
            "The file ends before its own headers say it does.",
            causes: ["it was still being copied when the host read it", "the disk was full when it was written"],
            fixes: ["copy it again under another name in the same directory, then rename it: a rename is atomic"]
        ),
        .init(
            "wrong-architecture",
            "The image was built for another processor or word size.",
            causes: ["a plugin built on a developer's machine was copied to a server with another processor"],
            fixes: ["build it for the architecture that the message names"]
        ),
        .init(
            "executable",
            "The image is a program, not a shared library.",
            causes: ["the linker was not told -shared"],
            fixes: ["link it with -shared, its sources compiled with -fPIC"]
        ),
        .init(
            "missing-dependency",
            "A shared library that the image needs is not on this system.",
            causes: [
                "a package is not installed", "a library that the plugin brings along is not where its RUNPATH points",
            ],
            fixes: [
                "install the package of the library that the message names, or link the plugin with -Wl,-rpath,'$ORIGIN' and put the library beside it"
            ]
        ),
        .init(
            "missing-symbol",
            "Neither the image nor what it needs has a symbol that it uses.",
            causes: [
                "a library was left out when the plugin was linked",
                "the installed library is another version than the one it was built with",
            ],
            fixes: ["link with -Wl,-z,defs, which finds this when the plugin is built"]
        ),
        .init(
            "missing-symbol-version",
            "A library that the image needs exists but is too old.",
            causes: ["the plugin was built on a newer system, often against a newer glibc"],
            fixes: ["build it on the oldest system it must run on, or update this one"]
        ),
        .init(
            "no-manifest",
            "The image has no manifest, and there is none beside it.",
            causes: [
                "CONNECTOR_MANIFEST is missing in the source",
                "strip removed the section of the note: --strip-all keeps it, objcopy --remove-section does not",
            ],
            fixes: ["embed a manifest with CONNECTOR_MANIFEST, or write NAME.connector.json beside libNAME.so"]
        ),
        .init(
            "invalid-manifest",
            "The manifest breaks a rule of its format.",
            causes: ["a key is misspelled, or a value has another type"],
            fixes: [
                "look at the line and column of the message; of a plugin in C that was compiled with -g they are those of the source"
            ]
        ),
        .init(
            "manifest-mismatch",
            "The manifest in the image and the one beside it differ, or the latter names another library.",
            causes: [
                "the sidecar is older than the image, or the reverse",
                "a sidecar with a \"library\" elsewhere has the name of the image beside it",
            ],
            fixes: ["remove the sidecar: an image with a manifest needs none", "give the sidecar another name"]
        ),
        .init(
            "unsupported-abi",
            "The plugin needs a version of the ABI that this host does not have.",
            causes: ["the plugin is newer than the host, or much older"],
            fixes: ["the message names both ranges: update the host, or build the plugin with its headers"]
        ),
        .init(
            "symbol-absent",
            "The image does not export a function that its manifest names.",
            causes: ["the function is static, or hidden by -fvisibility=hidden", "its name was mangled by C++"],
            fixes: ["export it: CONNECTOR_EXPORT in C, extern \"C\" in C++, #[no_mangle] in Rust, @c in Swift"]
        ),
        .init(
            "signature-mismatch",
            "An operation does not have the signature that its capability requires.",
            causes: ["the capability's version was changed without its operations"],
            fixes: ["the message shows both signatures: change the manifest and the function to the required one"]
        ),
        .init(
            "load-failed",
            "The dynamic linker refused the image, the file changed while it was read, or there is no place for its copy.",
            causes: [
                "the reason is in the linker's own words, below the message",
                "the file was overwritten in place, instead of replaced by a rename",
                "the directory that CONNECTOR_KEEP_IMAGES or TMPDIR names cannot be written",
            ],
            fixes: ["fix what the linker names; replace plugins by renaming a new file over the old one"]
        ),
        .init(
            "ambiguous-plugin",
            "Two different images have the same id and version.",
            causes: ["a plugin directory holds an old build, too"],
            fixes: ["remove one of the two files that the message names, or give the new build its own version"]
        ),
        .init(
            "unknown-plugin",
            "No usable plugin has the id that a connector names.",
            causes: [
                "the id is misspelled", "the plugin is not in a directory that is searched",
                "it is there but not usable, for the reason in its own row",
            ],
            fixes: [
                "connector-host plugins lists all of them, with the directories that are searched and what is wrong with each"
            ]
        ),
        .init(
            "not-locked",
            "The lock beside the configuration does not have the plugin's bytes.",
            causes: ["the plugin was replaced and the lock was not updated", "the file was changed"],
            fixes: [
                "if the change is wanted, connector-host lock --update ID shows what the plugin newly wants, and asks; else restore the file"
            ]
        ),
        .init(
            "bad-signature",
            "The signature beside a plugin's file is not one of its bytes, or there is none where one is required.",
            causes: [
                "the image was replaced without its signature", "it was signed with a key that \"trust\" does not list",
            ],
            fixes: ["install the plugin with its signature, the signature first, or sign it: minisign -S -m FILE"]
        )
    )

    private static let configuration = group(
        "The configuration",
        .init(
            "unknown-key",
            "A key that the format, or the plugin's manifest, does not have.",
            causes: ["a misspelling: the message suggests the nearest key"],
            fixes: ["correct or remove the key; connector-host inspect PLUGIN lists the keys of a plugin's \"config\""]
        ),
        .init(
            "wrong-type",
            "A value has another type than the format or the plugin requires.",
            causes: ["a number in quotation marks, or a text without them"],
            fixes: ["write a value of the type that the message names"]
        ),
        .init(
            "invalid-value",
            "A value is outside its range, or not one of the allowed ones.",
            causes: ["a duration without its unit: write \"5s\", not 5"],
            fixes: ["the message names the range or the allowed values"]
        ),
        .init(
            "missing-value",
            "A required value is absent.",
            causes: ["a plugin requires a field of \"config\""],
            fixes: ["add it; connector-host inspect PLUGIN lists what is required"]
        ),
        .init(
            "duplicate-name",
            "Two connectors beside each other have the same name.",
            causes: ["a connector was copied and not renamed"],
            fixes: ["rename one: paths such as analytics/segment must be unique"]
        ),
        .init(
            "missing-variable",
            "An environment variable that the file refers to is not set.",
            causes: ["the service runs in another environment than the shell"],
            fixes: ["set it, or give a default: ${NAME:-default}"]
        ),
        .init(
            "secret-unavailable",
            "A secret cannot be read.",
            causes: [
                "its variable is not set, its file does not exist, or its command failed",
                "the file can be read by others than its owner",
            ],
            fixes: ["provide it where the message says; chmod 600 its file"]
        ),
        .init(
            "unknown-connector",
            "A connector refers to one that does not exist.",
            causes: ["\"after\", \"same\" or \"with\" has a misspelled path, or the connector was renamed"],
            fixes: ["write the path of a connector in the file, such as analytics/segment"]
        ),
        .init(
            "dependency-cycle",
            "Connectors wait for each other in a circle, or files include each other.",
            causes: ["\"after\", \"with\" or \"include\" leads back to where it began"],
            fixes: ["the message prints the circle: remove one of its steps"]
        )
    )

    private static let gates = group(
        "Gates, calls and vendors",
        .init(
            "failed",
            "Failed, for a reason that no other code names.",
            causes: ["see the cause, which has the vendor's or the plugin's own words"],
            fixes: ["connector-host status --log-level debug shows what the plugin said before"]
        ),
        .init(
            "invalid",
            "The arguments or the configuration are wrong: the same call fails again.",
            causes: ["the vendor refused a value", "an argument does not fit the operation's signature"],
            fixes: ["connector-host operations PATH shows the signatures; correct the value that the message names"]
        ),
        .init(
            "unsupported",
            "The vendor, the plugin or this system cannot do it.",
            causes: ["the adapter leaves out an operation of its capability"],
            fixes: ["connector-host operations PATH lists what the connector can do"]
        ),
        .init(
            "unauthorized",
            "The vendor refused the credentials.",
            causes: ["the key is wrong, expired or revoked, or it is one of another project or region"],
            fixes: ["put a valid one where the connector reads its secret; the host takes it without a restart"]
        ),
        .init(
            "missing",
            "The object of a call, or something that a gate or the outbox needs, does not exist.",
            causes: [
                "a wrong id, or the object has been deleted at the vendor",
                "a gate needs a directory of this machine that is not there, or that the sandbox of its runner does not name",
                "the outbox in NATS has no streams yet",
            ],
            fixes: [
                "treat the object of a call as absent; nothing is wrong with the gate",
                "make the directory, and name it in the connector's \"sandbox\" if the plugin is in a runner",
                "connector-host outbox migrate makes the streams",
            ]
        ),
        .init(
            "conflict",
            "The object has changed since it was read or exists already, or another process is in the way.",
            causes: [
                "another caller was faster",
                "another host delivers the events of this state directory, or runs on the same file",
                "the file or a plugin has changed since a plan was made, or two files say different things of a plugin",
                "the streams of the outbox in NATS have other settings than the file asks for",
                "an event has the id of another one, which other connectors got",
            ],
            fixes: [
                "read the object again, apply the change, and try again",
                "give every event an id of its own",
                "stop the other host, ask it with connector-host status, or give this one a \"state\" of its own",
                "make the plan again",
            ]
        ),
        .init(
            "rate-limited",
            "Too many calls.",
            causes: ["the vendor's quota is used up, or the gate's own limit is reached"],
            fixes: [
                "wait as long as the error says; lower \"pace\", or send in larger batches. The outbox waits automatically"
            ]
        ),
        .init(
            "unavailable",
            "The vendor cannot be reached, or says that it is temporarily out of service.",
            causes: ["no network, a wrong host name, a proxy in between, or an outage of the vendor"],
            fixes: ["the gate retries automatically; connector-host status shows the cause and when it tries next"]
        ),
        .init(
            "timed-out",
            "The deadline passed.",
            causes: [
                "the vendor is slow or silent, or cannot be reached: the cause says what did not come, and from which host",
                "the plugin works longer, has forgotten the call, or blocks its thread: the message says which",
                "the call had no time from the beginning, such as the rest of a deadline that had passed",
            ],
            fixes: ["raise \"timeout\" if the vendor needs longer; report a plugin that blocks to its author"]
        ),
        .init(
            "aborted",
            "The plugin or the vendor gave up a call that its caller had not cancelled.",
            causes: ["the plugin closed its connection"],
            fixes: ["try again if the operation is safe to repeat"]
        ),
        .init(
            "cancelled",
            "The caller's own task was cancelled.",
            causes: ["the application no longer waits, or the command was interrupted"],
            fixes: [
                "nothing is to be done; before the call is repeated, look whether it has had its effect, unless \"sent\" is \"no\""
            ]
        ),
        .init(
            "storage",
            "The outbox could not read or write its storage; nothing has changed.",
            causes: [
                "the disk is full, or the state directory cannot be written",
                "the file is damaged: the message says what was salvaged",
            ],
            fixes: ["make room, or give the host's user permission to write; events that were confirmed are kept"]
        ),
        .init(
            "denied",
            "The host or the vendor does not permit it.",
            causes: [
                "a plugin called a host that its manifest does not declare as egress",
                "a plugin asked for a service or a gate that it was not given",
                "\"trust\" refuses a plugin, an included file or the lock: it is not signed, or other users could change it",
                "the sandbox of a runner hides a file from its plugin, or the user has no permission for it",
                "the socket of a host belongs to another user, or lock --update has no terminal to ask on",
                "the vendor does not permit it to the connector's credentials",
            ],
            fixes: [
                "if it is wanted, declare it in the manifest, or grant it in connectors.json",
                "name the file in the connector's \"sandbox\", or give the host's user permission",
                "make this user or root own the plugin with its directories, and let no other user write there",
                "give the credentials the permission, at the vendor",
            ]
        ),
        .init(
            "too-large",
            "More bytes than a limit allows.",
            causes: ["a payload, a result or a file is larger than the bound that the message names"],
            fixes: ["send less at once, in parts or in pages"]
        ),
        .init(
            "protocol",
            "An answer that breaks its protocol.",
            causes: [
                "something else than the vendor answered: a proxy's page of HTML, or a gateway without a server for the address",
                "the vendor has changed its API",
            ],
            fixes: ["check the URL in \"config\"; the cause shows the beginning of the answer"]
        ),
        .init(
            "not-simulated",
            "The gates are simulated, but this one's vendor has no simulator.",
            causes: ["the plugin is your own"],
            fixes: ["write a file of answers: \"simulate\" in connectors.json, or --answers CONNECTOR=FILE"]
        ),
        .init(
            "not-open",
            "The gate is not open.",
            causes: ["it was closed, it is still opening, or it failed to open", "the host has been closed"],
            fixes: ["connector-host status shows the state and the reason; await host.ready() before the first call"]
        ),
        .init(
            "partial",
            "Only some of a composite's required connectors took the call.",
            causes: ["one of the children failed: its own error is among the outcomes"],
            fixes: ["look at the outcome of each child; the others have done their part"]
        ),
        .init(
            "misbehaved",
            "The plugin broke a rule of the ABI.",
            causes: [
                "it completed an operation twice or after it had ended, returned a null result with a length, or blocked a thread"
            ],
            fixes: ["an error of the plugin: report it to its author with the message, which names the function"]
        ),
        .init(
            "crashed",
            "The process that ran the plugin ended before the call was answered.",
            causes: [
                "the plugin crashed, exited or ran out of memory: the message says how the process ended, and whether the call had been sent"
            ],
            fixes: [
                "the gate opens again in a new process, and events are delivered again; repeat a call that was not sent, or that may be made twice. Report the crash to the plugin's author"
            ]
        )
    )
}
