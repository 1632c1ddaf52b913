// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CSandbox
import Testing

#if os(Linux)
    /// The filter's program, run as the kernel would run it, for both architectures.
    @Suite struct SandboxFilterTests {
        /// A verdict of the kernel: the action, and its data.
        enum Verdict: Equatable, CustomStringConvertible {
            case allow
            case refuse(UInt32)
            case kill
            case ask
            case other(UInt32)

            var description: String {
                switch self {
                case .allow: "allow"
                case .refuse(let error): "errno \(error)"
                case .kill: "kill"
                case .ask: "ask"
                case .other(let value): "\(value)"
                }
            }
        }

        static let x86 = Int32(SANDBOX_X86_64), arm = Int32(SANDBOX_ARM64)
        static let process: Int32 = 4711

        /// A program with its architecture.
        struct Program {
            let architecture: Int32
            let instructions: [sandbox_instruction]

            init(
                _ architecture: Int32,
                isNarrow: Bool = true,
                network: Bool = false,
                writes: Bool = false,
                names: Bool = false,
                asks: Int32 = SANDBOX_ASKS_NONE
            ) {
                self.architecture = architecture
                var filter = sandbox_filter(
                    architecture: architecture,
                    process: process,
                    is_narrow: isNarrow ? 1 : 0,
                    network: network ? 1 : 0,
                    writes: writes ? 1 : 0,
                    names: names ? 1 : 0,
                    asks: UInt32(asks)
                )
                var instructions = [sandbox_instruction](
                    repeating: sandbox_instruction(),
                    count: Int(SANDBOX_INSTRUCTION_COUNT)
                )
                let count = unsafe sandbox_program(&filter, &instructions, Int32(SANDBOX_INSTRUCTION_COUNT))
                self.instructions = Array(instructions.prefix(Int(count)))
            }

            /// The number of a call by its name; -1 if there is none.
            func number(_ name: String) -> Int32 {
                (0..<1000).first { number in
                    unsafe sandbox_call_name(architecture, number).map { unsafe String(cString: $0) == name } ?? false
                } ?? -1
            }

            /// Runs the program: Documentation/networking/filter.rst.
            func verdict(_ number: Int32, _ arguments: [UInt64] = [], machine: UInt32? = nil) -> Verdict {
                run(number, arguments, machine: machine).verdict
            }

            /// Runs the program, and counts the instructions that it takes.
            func run(
                _ number: Int32,
                _ arguments: [UInt64] = [],
                machine: UInt32? = nil
            ) -> (verdict: Verdict, count: Int) {
                let own: UInt32 = architecture == x86 ? 0xC000_003E : 0xC000_00B7
                var words: [UInt32] = [UInt32(bitPattern: number), machine ?? own, 0, 0]
                for index in 0..<6 {
                    let argument = index < arguments.count ? arguments[index] : 0
                    words += [UInt32(truncatingIfNeeded: argument), UInt32(argument >> 32)]
                }
                var value: UInt32 = 0
                var (at, count) = (0, 0)
                while at < instructions.count {
                    let instruction = instructions[at]
                    at += 1
                    count += 1
                    switch instruction.code {
                    case 0x20: value = words[Int(instruction.operand) / 4]
                    case 0x54: value &= instruction.operand
                    case 0x15: at += Int(value == instruction.operand ? instruction.if_true : instruction.if_false)
                    case 0x25: at += Int(value > instruction.operand ? instruction.if_true : instruction.if_false)
                    case 0x35: at += Int(value >= instruction.operand ? instruction.if_true : instruction.if_false)
                    case 0x05: at += Int(instruction.operand)
                    case 0x45: at += Int(value & instruction.operand != 0 ? instruction.if_true : instruction.if_false)
                    case 0x06: return (Self.verdict(instruction.operand), count)
                    default: return (.other(UInt32(instruction.code)), count)
                    }
                }
                return (.other(0), count)
            }

            private static func verdict(_ value: UInt32) -> Verdict {
                switch value & 0xFFFF_0000 {
                case 0x7FFF_0000: .allow
                case 0x0005_0000: .refuse(value & 0xFFFF)
                case 0x8000_0000: .kill
                case 0x7FC0_0000: .ask
                default: .other(value)
                }
            }
        }

        @Test(arguments: [x86, arm]) func `the program has room, and ends`(architecture: Int32) {
            let program = Program(architecture)
            #expect((200..<1500).contains(program.instructions.count))
            for number in -1..<Int32(2000) {
                if case .other = program.verdict(number) { Issue.record("call \(number) has no verdict") }
            }
        }

        @Test(arguments: [x86, arm]) func `every call is found within fifty instructions`(architecture: Int32) {
            let none = SANDBOX_ASKS_NONE, refused = SANDBOX_ASKS_REFUSED
            for (isNarrow, asks) in [
                (true, none), (false, none), (true, refused), (false, refused), (false, SANDBOX_ASKS_ALL),
            ] {
                let program = Program(architecture, isNarrow: isNarrow, asks: asks)
                let longest = (-1..<Int32(2000)).map { program.run($0, [.max, .max, .max, .max]).count }.max() ?? 0
                #expect(longest <= 50)
            }
        }

        @Test func `another architecture is killed, and nothing else is`() {
            for (program, other) in [(Program(Self.x86), 0x4000_0003 as UInt32), (Program(Self.arm), 0xC000_003E)] {
                #expect(program.verdict(0, machine: other) == .kill)
                #expect((-1..<Int32(2000)).allSatisfy { program.verdict($0) != .kill })
            }
        }

        @Test(arguments: [x86, arm]) func `newer calls, and those that hide arguments behind pointers, do not exist`(
            architecture: Int32
        ) {
            let program = Program(architecture)
            for number: Int32 in [463, 469, 512, 547, 1000, 0x4000_0000, 0x4000_0000 | 59, -1] {
                #expect(program.verdict(number) == .refuse(38), "\(number)")
            }
            #expect(program.verdict(435) == .refuse(38))
            #expect(program.verdict(437) == .refuse(38))
        }

        @Test(arguments: [x86, arm]) func `clone makes threads, but neither processes nor namespaces`(
            architecture: Int32
        ) {
            let program = Program(architecture)
            let clone = program.number("clone")
            // The flags of pthread_create.
            let thread: UInt64 = 0x3D_0F00
            #expect(program.verdict(clone, [thread]) == .allow)
            #expect(program.verdict(clone, [17]) == .refuse(1))
            #expect(program.verdict(clone, [0x4111]) == .refuse(1))
            for flag: UInt64 in [
                0x80, 0x2_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
            ] {
                #expect(program.verdict(clone, [thread | flag]) == .refuse(1), "\(flag)")
            }
        }

        @Test(arguments: [x86, arm]) func `signals and priorities reach only this process`(architecture: Int32) {
            let program = Program(architecture)
            let own = UInt64(Self.process)
            for name in ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"] {
                let number = program.number(name)
                #expect(program.verdict(number, [own]) == .allow, "\(name)")
                for other: UInt64 in [0, 1, own + 1, 0xFFFF_FFFF, UInt64(bitPattern: -4711)] {
                    #expect(program.verdict(number, [other]) == .refuse(1), "\(name) \(other)")
                }
            }
            #expect(program.verdict(program.number("tkill"), [own]) == .refuse(1))
            let priority = program.number("setpriority")
            #expect(program.verdict(priority, [0, 0]) == .allow)
            #expect(program.verdict(priority, [0, 12]) == .refuse(1))
            #expect(program.verdict(priority, [1, 0]) == .refuse(1))
            #expect(program.verdict(program.number("prlimit64"), [12]) == .refuse(1))
        }

        @Test(arguments: [x86, arm]) func `nothing is sent to an address, not even one with a lower half of 0`(
            architecture: Int32
        ) {
            let program = Program(architecture)
            let number = program.number("sendto")
            #expect(program.verdict(number, [3, 8, 1, 0, 0, 0]) == .allow)
            #expect(program.verdict(number, [3, 8, 1, 0, 0x7F00_1000, 16]) == .refuse(1))
            #expect(program.verdict(number, [3, 8, 1, 0, 0x1_0000_0000, 16]) == .refuse(1))
            // A message has an address, too, which no filter can read, so no socket that takes one is allowed.
            let pair = program.number("socketpair")
            for kind: UInt64 in [1, 5, 0o2000001, 0o2004005] { #expect(program.verdict(pair, [1, kind]) == .allow) }
            for kind: UInt64 in [0, 2, 3, 4, 6, 10, 0o2000002] {
                #expect(program.verdict(pair, [1, kind]) == .refuse(1), "\(kind)")
            }
            #expect(program.verdict(pair, [2, 1]) == .refuse(1))
        }

        @Test(arguments: [x86, arm]) func `no call takes pages away from memory that the host shares`(
            architecture: Int32
        ) {
            let program = Program(architecture), writing = Program(architecture, writes: true)
            let advise = program.number("madvise"), allocate = program.number("fallocate")
            for advice: UInt64 in [0, 1, 2, 3, 4, 8, 10, 12, 14, 23, 100, 102, 103] {
                #expect(program.verdict(advise, [0, 0, advice]) == .allow, "\(advice)")
            }
            #expect(program.verdict(advise, [0, 0, 9]) == .refuse(1))
            #expect(program.verdict(allocate, [0, 0]) == .refuse(13))
            for mode: UInt64 in [0, 1] { #expect(writing.verdict(allocate, [0, mode]) == .allow) }
            for mode: UInt64 in [2, 3] { #expect(writing.verdict(allocate, [0, mode]) == .refuse(13)) }
        }

        @Test(arguments: [x86, arm]) func `files can only be opened for reading unless the settings allow writing`(
            architecture: Int32
        ) {
            let reading = Program(architecture), writing = Program(architecture, writes: true)
            let number = reading.number("openat")
            for flags: UInt64 in [0, 0o2000000, 0o10000000] {
                #expect(reading.verdict(number, [0, 0, flags]) == .allow)
            }
            for flags: UInt64 in [1, 2, 0o100, 0o1000, 0o20000000] {
                #expect(reading.verdict(number, [0, 0, flags]) == .refuse(13), "\(flags)")
                #expect(writing.verdict(number, [0, 0, flags]) == .allow)
            }
            #expect(reading.verdict(reading.number("unlinkat")) == .refuse(13))
            #expect(writing.verdict(reading.number("unlinkat")) == .allow)
        }

        @Test(arguments: [x86, arm]) func `sockets need the network setting, and loading needs the first stage`(
            architecture: Int32
        ) {
            let narrow = Program(architecture), network = Program(architecture, network: true)
            let socket = narrow.number("socket")
            for family in UInt64(0)..<64 {
                #expect(narrow.verdict(socket, [family]) == .refuse(1))
                #expect(
                    network.verdict(socket, [family]) == ([2, 10, 16].contains(family) ? .allow : .refuse(1)),
                    "\(family)"
                )
            }
            let filter = narrow.number("seccomp"), broad = Program(architecture, isNarrow: false)
            #expect(narrow.verdict(filter) == .refuse(1))
            #expect(broad.verdict(filter) == .allow)
            // With TSYNC, as the second stage, and with a listener.
            #expect(broad.verdict(filter, [1, 0x01]) == .allow)
            for flags: UInt64 in [0x08, 0x09, 0x28] { #expect(broad.verdict(filter, [1, flags]) == .refuse(1)) }
        }

        @Test(arguments: [x86, arm]) func `no memory is made that the bound does not count`(architecture: Int32) {
            let program = Program(architecture), broad = Program(architecture, isNarrow: false, writes: true)
            let map = program.number("mmap")
            // Of a file, private and shared; of no file; a thread's stack.
            for flags: UInt64 in [0x02, 0x01, 0x22, 0x2_0022, 0x812] {
                #expect(program.verdict(map, [0, 0, 0, flags]) == .allow, "\(flags)")
            }
            // MAP_SHARED with MAP_ANONYMOUS, MAP_GROWSDOWN.
            for flags: UInt64 in [0x21, 0x122, 0x2_0122] {
                #expect(program.verdict(map, [0, 0, 0, flags]) == .refuse(1), "\(flags)")
            }
            #expect(broad.verdict(program.number("memfd_create")) == .refuse(1))
        }

        @Test(arguments: [x86, arm]) func `without the network no descriptor is sent, and with it no socket lingers`(
            architecture: Int32
        ) {
            let program = Program(architecture), network = Program(architecture, network: true)
            for name in ["sendmsg", "sendmmsg", "setsockopt"] {
                #expect(Program(architecture, isNarrow: false).verdict(program.number(name)) == .refuse(1), "\(name)")
                #expect(network.verdict(program.number(name)) == .allow, "\(name)")
            }
            let option = program.number("setsockopt")
            for number: UInt64 in [2, 9, 12, 14] { #expect(network.verdict(option, [3, 1, number]) == .allow) }
            #expect(network.verdict(option, [3, 1, 13]) == .refuse(1))
        }

        @Test(arguments: [x86, arm]) func `files are watched only if the settings name some`(architecture: Int32) {
            let program = Program(architecture), naming = Program(architecture, names: true)
            for name in ["inotify_init1", "inotify_add_watch", "inotify_rm_watch"] {
                #expect(program.verdict(program.number(name)) == .refuse(1), "\(name)")
                #expect(naming.verdict(program.number(name)) == .allow, "\(name)")
            }
        }

        /// Of two verdicts the kernel takes the stricter one, and an errno is stricter than a question.
        @Test(arguments: [x86, arm]) func `what is refused on purpose is asked about, once`(architecture: Int32) {
            let asking = SANDBOX_ASKS_REFUSED
            let broad = Program(architecture, isNarrow: false, asks: asking)
            let narrow = Program(architecture, asks: asking)
            let refusing = Program(architecture)
            let samples: [[UInt64]] = [[], [1, 1, 1, 1, 1], [2, 0x241, 0x241, 0x21], [.max, .max, .max, .max, .max]]
            for number in Int32(0)..<512 {
                for arguments in samples {
                    let verdict = refusing.verdict(number, arguments)
                    let (first, second) = (broad.verdict(number, arguments), narrow.verdict(number, arguments))
                    if number == narrow.number("seccomp") {
                        #expect(second == .refuse(1))
                    } else if verdict == .refuse(1) || verdict == .refuse(13) {
                        #expect(first == .ask && second == .allow, "call \(number)")
                    } else {
                        #expect(first == verdict && second == .allow, "call \(number)")
                    }
                }
            }
            #expect(narrow.verdict(0, machine: 0x4000_0003) == .kill)
        }

        @Test(arguments: [x86, arm]) func `whoever learns is asked about every call that would be refused`(
            architecture: Int32
        ) {
            let program = Program(architecture, isNarrow: false, asks: SANDBOX_ASKS_ALL)
            #expect(program.verdict(program.number("socket"), [2]) == .ask)
            #expect(program.verdict(program.number("execve")) == .ask)
            #expect(program.verdict(463) == .ask)
            #expect(program.verdict(program.number("read")) == .allow)
            // Allowed by the filter, and hidden by the namespaces.
            #expect(program.verdict(program.number("statfs")) == .ask)
            #expect(Program(architecture).verdict(program.number("statfs")) == .allow)
        }

        @Test func `the table has the right numbers of known calls`() {
            for architecture in [Self.x86, Self.arm] {
                // Numbers known from C's headers; they would all be wrong if the table had slipped.
                let program = Program(architecture)
                let known: [(String, Int32, Int32)] = [
                    ("read", 0, 63), ("openat", 257, 56), ("clone", 56, 220), ("execve", 59, 221), ("socket", 41, 198),
                    ("exit_group", 231, 94), ("mseal", 462, 462), ("ptrace", 101, 117), ("futex", 202, 98),
                ]
                for (name, first, second) in known {
                    #expect(program.number(name) == (architecture == Self.x86 ? first : second), "\(name)")
                }
            }
        }
    }
#endif
