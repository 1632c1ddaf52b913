// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// storage/1 as a plugin calls it, on real files.
@Suite struct StorageServiceTests {
    private let directory = ScratchDirectory()

    /// A gate of a host that has just been started.
    private func plugin(_ path: String = "database/kinto") -> PluginSide {
        PluginSide(host: HostServices(options: .init(state: StateDirectory(directory.path + "/state"))), path: path)
    }

    @Test func `a value is read back, even after a restart`() {
        let plugin = plugin()
        #expect(plugin.get("cursor").status == CONNECTOR_NOT_FOUND)
        #expect(plugin.set("cursor", Array("42".utf8)).status == CONNECTOR_OK)
        #expect(plugin.get("cursor") == StorageAnswer(status: Int32(CONNECTOR_OK), text: "42"))
        #expect(self.plugin().get("cursor").text == "42")
        #expect(plugin.set("cursor", []).status == CONNECTOR_OK)
        #expect(self.plugin().get("cursor") == StorageAnswer(status: Int32(CONNECTOR_OK), text: ""))
    }

    @Test func `a removed value is gone, even after a restart`() {
        let plugin = plugin()
        _ = plugin.set("a", [1])
        #expect(plugin.remove("a").status == CONNECTOR_OK)
        #expect(plugin.remove("a").status == CONNECTOR_NOT_FOUND)
        #expect(self.plugin().get("a").status == CONNECTOR_NOT_FOUND)
    }

    @Test func `a value is replaced only if it is the expected one, and an empty one is not none`() {
        let plugin = plugin()
        #expect(plugin.replace("key", [0x30], [0x31]).status == CONNECTOR_CONFLICT)
        #expect(plugin.replace("key", [], [0x31]).status == CONNECTOR_CONFLICT)
        #expect(plugin.get("key").status == CONNECTOR_NOT_FOUND)
        #expect(plugin.replace("key", nil, []).status == CONNECTOR_OK)
        #expect(plugin.replace("key", nil, [0x31]).status == CONNECTOR_CONFLICT)
        #expect(plugin.get("key").text == "")
        #expect(plugin.replace("key", [], [0x31]).status == CONNECTOR_OK)
        // Another host of the application.
        #expect(self.plugin().replace("key", [0x31], [0x32]).status == CONNECTOR_OK)
        #expect(plugin.replace("key", [0x31], [0x33]).status == CONNECTOR_CONFLICT)
        #expect(plugin.get("key").text == "2")
        #expect(plugin.replace("key", [0x32], [UInt8](repeating: 7, count: 65537)).status == CONNECTOR_TOO_LARGE)
        #expect(plugin.replace("", nil, [0x31]).status == CONNECTOR_INVALID)
        #expect(self.plugin().get("key").text == "2")
    }

    @Test func `hosts that add to one value at once lose nothing of each other`() async {
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let plugin = self.plugin()
                    for _ in 0..<5 {
                        var status = Int32(CONNECTOR_CONFLICT)
                        while status == CONNECTOR_CONFLICT {
                            let old = plugin.get("sum").text.map { Array($0.utf8) }
                            status = plugin.replace("sum", old, (old ?? []) + [0x78]).status
                        }
                        #expect(status == CONNECTOR_OK)
                    }
                }
            }
        }
        #expect(plugin().get("sum").text == String(repeating: "x", count: 20))
    }

    @Test func `keys are listed in the order of their bytes`() {
        let plugin = plugin()
        for key in ["b", "a/2", "a/1", "é", "\""] { _ = plugin.set(key, []) }
        #expect(plugin.list().text == #"["\"","a/1","a/2","b","é"]"#)
        #expect(plugin.list("a/").text == #"["a/1","a/2"]"#)
        #expect(plugin.list("zzz").text == "[]")
    }

    @Test func `gates do not see each other's values, instances of one gate do`() {
        let host = HostServices(options: .init(state: StateDirectory(directory.path)))
        let first = PluginSide(host: host, path: "a/b")
        let second = PluginSide(host: host, path: "a/b")
        let other = PluginSide(host: host, path: "a-b")
        _ = first.set("key", [0x31])
        #expect(second.get("key").text == "1")
        #expect(other.get("key").status == CONNECTOR_NOT_FOUND)
    }

    @Test func `directory and files are for this user only`() {
        _ = plugin().set("key", [1])
        #expect(directory.permissions(of: "state") == 0o700)
        #expect(directory.names(in: "/state") == ["database%2Fkinto.storage"])
        #expect(directory.permissions(of: "state/database%2Fkinto.storage") == 0o600)
    }

    @Test func `reading creates nothing`() {
        #expect(plugin().list().text == "[]")
        #expect(directory.names() == [])
    }

    @Test(arguments: ["", String(repeating: "k", count: 129)])
    func `a key outside the rules is invalid`(key: String) {
        #expect(plugin().set(key, [1]).status == CONNECTOR_INVALID)
        #expect(plugin().get(key).status == CONNECTOR_INVALID)
        #expect(plugin().remove(key).status == CONNECTOR_INVALID)
    }

    @Test func `the size of a value and of all together is limited, and a refused value changes nothing`() {
        let plugin = plugin()
        let largest = [UInt8](repeating: 7, count: 65536)
        #expect(plugin.set("k", largest).status == CONNECTOR_OK)
        #expect(plugin.set("k", largest + [7]).status == CONNECTOR_TOO_LARGE)
        #expect(plugin.get("k").text?.utf8.count == 65536)
        for index in 0..<14 { #expect(plugin.set("k\(index)", largest).status == CONNECTOR_OK) }
        #expect(plugin.set("last", largest).status == CONNECTOR_TOO_LARGE)
        #expect(plugin.get("last").status == CONNECTOR_NOT_FOUND)
        #expect(self.plugin().get("k13").text?.utf8.count == 65536)
    }

    @Test(arguments: [
        [], Array("garbage".utf8), Array("connector-storage 1\n".utf8), Array("connector-storage 2\n1234".utf8),
    ])
    func `a corrupt file is kept aside and reported, and the gate goes on`(content: [UInt8]) throws {
        _ = plugin().set("key", [1])
        directory.write(content, to: "state/database%2Fkinto.storage")
        let plugin = plugin()
        #expect(plugin.get("key").status == CONNECTOR_NOT_FOUND)
        #expect(plugin.log.entries.first?.level == .error)
        #expect(directory.names(in: "/state") == ["database%2Fkinto.storage.corrupt"])
        #expect(plugin.set("key", [0x32]).status == CONNECTOR_OK)
        #expect(self.plugin().get("key").text == "2")
    }

    @Test func `a file of a later version is left alone`() {
        var values = StoredValues()
        _ = try? values.set([0x61], to: [1])
        _ = plugin().set("key", [1])
        let text = values.encoded(version: "9\n")
        directory.write(text, to: "state/database%2Fkinto.storage")
        #expect(plugin().get("key").status == CONNECTOR_UNAVAILABLE)
        #expect(plugin().set("key", [1]).status == CONNECTOR_UNAVAILABLE)
        #expect(directory.names(in: "/state") == ["database%2Fkinto.storage"])
    }

    @Test func `a directory that cannot be made is unavailable, with its place`() {
        directory.write([], to: "file")
        let host = HostServices(options: .init(state: StateDirectory(directory.path + "/file/state")))
        let answer = PluginSide(host: host).set("key", [1])
        #expect(answer.status == CONNECTOR_UNAVAILABLE)
        #expect(answer.message.contains("/file/state/analytics%2Fsegment.storage"))
    }

    @Test func `a file that a crash left in the middle of writing does no harm`() {
        _ = plugin().set("key", [0x31])
        directory.write(Array("half".utf8), to: "state/database%2Fkinto.storage.new")
        #expect(plugin().get("key").text == "1")
        #expect(plugin().set("key", [0x32]).status == CONNECTOR_OK)
        #expect(directory.names(in: "/state") == ["database%2Fkinto.storage"])
    }

    @Test func `many threads that write at once lose no value`() async {
        let plugin = plugin()
        await withTaskGroup { group in
            for index in 0..<20 {
                group.addTask { #expect(plugin.set("key\(index)", [UInt8(index)]).status == CONNECTOR_OK) }
            }
        }
        let other = self.plugin()
        #expect((0..<20).allSatisfy { other.get("key\($0)").status == CONNECTOR_OK })
    }

    @Test func `hosts that write at once lose no value of each other`() async {
        await withTaskGroup { group in
            for host in 0..<4 {
                group.addTask {
                    let plugin = self.plugin()
                    for index in 0..<10 { #expect(plugin.set("\(host)-\(index)", [1]).status == CONNECTOR_OK) }
                }
            }
        }
        let other = plugin()
        for host in 0..<4 {
            for index in 0..<10 { #expect(other.get("\(host)-\(index)").status == CONNECTOR_OK) }
        }
        #expect(directory.names(in: "/state") == ["database%2Fkinto.storage"])
    }

    @Test func `a host sees what another has written since`() {
        let (first, second) = (plugin(), plugin())
        _ = first.set("key", [0x31])
        #expect(second.get("key").text == "1")
        _ = second.set("key", [0x32])
        #expect(first.get("key").text == "2")
        _ = first.remove("key")
        #expect(second.get("key").status == CONNECTOR_NOT_FOUND)
        #expect(second.list().text == "[]")
    }

    @Test func `an instance of a gate that has moved still uses its values, which have moved along`() throws {
        let host = HostServices(options: .init(state: StateDirectory(directory.path)))
        let earlier = PluginSide(host: host, path: "gate")
        _ = earlier.set("key", [0x31])
        host.shareStorage(of: "gate", with: "moved", logger: earlier.gate.logger)
        let next = PluginSide(host: host, path: "moved")
        #expect(next.get("key").text == "1")
        try host.moveStorage(of: "gate", to: "moved")
        // The earlier instance's last calls, and its end, come after the move.
        #expect(earlier.get("key").text == "1")
        #expect(earlier.set("key", [0x32]).status == CONNECTOR_OK)
        #expect(next.get("key").text == "2")
        #expect(directory.names() == ["moved.storage"])
        // A new gate in the old place has values of its own.
        #expect(PluginSide(host: host, path: "gate").get("key").status == CONNECTOR_NOT_FOUND)
    }

    @Test func `a FIFO in the file's place is an error, and nobody waits for it`() {
        _ = plugin().set("key", [1])
        let path = "\(directory.path)/state/database%2Fkinto.storage"
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(plugin().get("key").status == CONNECTOR_UNAVAILABLE)
        #expect(plugin().set("key", [1]).message.hasSuffix("it is not a file"))
    }

    @Test func `a directory that is open to others is made private`() {
        _ = plugin().set("key", [0x31])
        #expect(unsafe chmod("\(directory.path)/state", 0o777) == 0)
        #expect(plugin().get("key").text == "1")
        #expect(directory.permissions(of: "state") == 0o700)
        #expect(unsafe chmod("\(directory.path)/state", 0o755) == 0)
        #expect(plugin().set("key", [0x32]).status == CONNECTOR_OK)
        #expect(directory.permissions(of: "state") == 0o700)
    }

    @Test(.enabled(if: geteuid() == 0)) func `a directory of another user is refused`() {
        _ = plugin().set("key", [0x31])
        #expect(unsafe chown("\(directory.path)/state", 65534, 65534) == 0)
        #expect(plugin().get("key").status == CONNECTOR_UNAVAILABLE)
        #expect(plugin().set("key", [0x32]).status == CONNECTOR_UNAVAILABLE)
    }

    @Test func `applications do not see each other's values`() {
        func plugin(_ application: String?) -> PluginSide {
            let state = StateDirectory(directory.path + "/s", application: application)
            return PluginSide(host: HostServices(options: .init(state: state)))
        }
        _ = plugin(nil).set("key", [0x30])
        #expect(plugin("one.name").set("key", [0x31]).status == CONNECTOR_OK)
        #expect(unsafe chmod("\(directory.path)/s", 0o777) == 0)
        #expect(plugin("one.name").get("key").text == "1")
        #expect(directory.permissions(of: "s") == 0o700)
        #expect(plugin("two.name").get("key").status == CONNECTOR_NOT_FOUND)
        #expect(plugin("two.name").set("key", [0x32]).status == CONNECTOR_OK)
        #expect(plugin("one.name").get("key").text == "1")
        #expect(plugin(nil).get("key").text == "0")
        #expect(directory.permissions(of: "s/one.name") == 0o700)
    }

    @Test func `an application is known by its name, or else by its file or program`() throws {
        directory.write([], to: "a.json")
        directory.write([], to: "b.json")
        let (one, other) = ("\(directory.path)/a.json", "\(directory.path)/b.json")
        #expect(StateDirectory.folder(name: "shop", file: one) == "shop.name")
        #expect(StateDirectory.folder(name: nil, file: one) != StateDirectory.folder(name: nil, file: other))
        #expect(unsafe symlink(directory.path, "\(directory.path)/here") == 0)
        #expect(
            StateDirectory.folder(name: nil, file: "\(directory.path)/here/./a.json")
                == StateDirectory.folder(name: nil, file: one)
        )
        #expect(StateDirectory.folder(name: nil, file: one)?.hasSuffix(".file") == true)
        #expect(StateDirectory.folder(name: nil, file: "")?.hasSuffix(".program") == true)
        // The longest name of a user that Linux allows; a Unix address holds 107 bytes and a NUL.
        let state = "/home/\(String(repeating: "a", count: 32))/.local/state/connector-host"
        let path = StateDirectory(state, application: StateDirectory.folder(name: nil, file: one)).path
        #expect(try #require(path).utf8.count + "/control-simulated".utf8.count <= 107)
    }

    @Test func `an application keeps its folder while its file's link is replaced, dangles or is missing`() throws {
        let file = "\(directory.path)/connectors.json"
        for name in ["one", "two"] {
            #expect(unsafe mkdir("\(directory.path)/\(name)", 0o700) == 0)
            directory.write([], to: "\(name)/connectors.json")
        }
        func flip(to name: String) {
            unsafe unlink("\(directory.path)/data")
            #expect(unsafe symlink(name, "\(directory.path)/data") == 0)
        }
        let missing = try #require(StateDirectory.folder(name: nil, file: file))
        #expect(unsafe symlink("data/connectors.json", file) == 0)
        #expect(StateDirectory.folder(name: nil, file: file) == missing)
        flip(to: "one")
        let earlier = StateDirectory.earlierFolders(file: file)
        #expect(StateDirectory.folder(name: nil, file: file) == missing)
        flip(to: "two")
        #expect(StateDirectory.folder(name: nil, file: file) == missing)
        // Those of the versions that followed the link.
        #expect(!earlier.contains(missing) && earlier != StateDirectory.earlierFolders(file: file))
        #expect(earlier.map(\.utf8.count) == [16, 64].map { $0 + ".file".utf8.count })
        // The path of a directory that is a link is followed.
        #expect(
            StateDirectory.folder(name: nil, file: "\(directory.path)/data/connectors.json")
                == StateDirectory.folder(name: nil, file: "\(directory.path)/two/connectors.json")
        )
    }

    @Test func `null and small structs get a status`() throws {
        typealias Get =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafeMutablePointer<connector_bytes_owned>?,
                UnsafeMutablePointer<connector_error>?
            ) -> Int32
        let plugin = plugin()
        let table = try unsafe #require(plugin.storage).pointee
        let get = unsafe unsafeBitCast(table.get, to: Get.self)
        var owned = unsafe connector_bytes_owned()
        var statuses: [Int32] = []
        unsafe "key".withCString { key in
            unsafe statuses.append(get(table.context, key, 3, &owned, nil))
            unsafe owned.struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
            unsafe statuses.append(get(table.context, nil, 3, &owned, nil))
            unsafe statuses.append(get(table.context, key, 3, nil, nil))
            unsafe statuses.append(get(nil, key, 3, &owned, nil))
            unsafe statuses.append(get(table.context, key, .max, &owned, nil))
            unsafe statuses.append(get(table.context, key, 3, &owned, nil))
        }
        #expect(
            statuses
                == [
                    CONNECTOR_MISUSE, CONNECTOR_MISUSE, CONNECTOR_MISUSE, CONNECTOR_MISUSE, CONNECTOR_INVALID,
                    CONNECTOR_NOT_FOUND,
                ]
                .map { Int32($0) }
        )
    }
}
