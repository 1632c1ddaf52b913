// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorLoading

    /// Images with static thread-local variables, of which a process can load few.
    ///
    /// Serialized, because the images of all tests share what there is.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct StaticTLSTests {
        private typealias Variant = ImageWorkspace.Variant

        /// A variant with initial-exec variables.
        private func variant(_ answer: Int, bytes: Int) -> Variant {
            Variant(
                answer: answer,
                code: """
                    static __thread volatile char swapped_local[\(bytes)] __attribute__((aligned(64))) = {1};
                    CONNECTOR_EXPORT int swapped_use(void) { return swapped_local[0]; }
                    """,
                flags: "-ftls-model=initial-exec"
            )
        }

        @Test func `the static TLS that an image takes is read from its headers`() throws {
            let workspace = ImageWorkspace()
            let image = try ELFImage(ImageBytes(path: workspace.build(variant(1, bytes: 100))))
            #expect(image.staticTLS(try #require(DynamicSection(image))) == 128)
            var other = variant(1, bytes: 100)
            other.flags = "-ftls-model=global-dynamic"
            let dynamic = try ELFImage(ImageBytes(path: workspace.build(other)))
            #expect(dynamic.staticTLS(try #require(DynamicSection(dynamic))) == 0)
        }

        @Test func `an image that needs more static TLS than any process has is refused, also in an inspection`() throws
        {
            let workspace = ImageWorkspace()
            let path = try workspace.build(variant(1, bytes: 1 << 20))
            let problem = try #require(PluginInspection(path: path).problems.first)
            #expect(
                problem.code == .loadFailed && problem.message.contains("for all images that it loads"),
                "\(problem)"
            )
            #expect(problem.fix == "compile the plugin without -ftls-model=initial-exec")
        }

        @Test func `glibc's tunables decide how much static TLS there is`() {
            #expect(StaticTLS.surplus(tunables: "") == 1664)
            #expect(StaticTLS.surplus(tunables: "glibc.rtld.optional_static_tls=4096") == 5248)
            #expect(StaticTLS.surplus(tunables: "glibc.malloc.check=1:glibc.rtld.nns=2") == 192 + 288 + 512)
            #expect(StaticTLS.surplus(tunables: "glibc.rtld.nns=x:glibc.rtld.nns=0") == 1664)
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "a sanitizer's own images take static TLS"))
        func `a swap that would exceed the static TLS is refused, and the host is unharmed`() async throws {
            let workspace = ImageWorkspace()
            try workspace.install()
            let host = try await workspace.host()
            // What other tests of this process leave is not known; the plan shows it.
            try workspace.place(workspace.build(variant(2, bytes: 256)))
            var plan = try await host.plan()
            #expect(plan["gate"]?.image?.staticTLS == 256)
            var answer = 1
            var refused: Reload?
            for round in 2...20 {
                try workspace.place(workspace.build(variant(round, bytes: 256)))
                plan = try await host.plan()
                let left = try #require(plan["gate"]?.image?.staticTLSLeft)
                let reload = await host.reload()
                guard reload.isActive else {
                    #expect(left < 0)
                    refused = reload
                    break
                }
                answer = round
                #expect(left >= 0)
                let images = try #require(host.report.images)
                #expect(images.staticTLSLimit.map { $0 - images.staticTLS } == left)
                let warns = host.report["gate"]?.warnings.contains { $0.contains("bytes of static TLS") } ?? false
                #expect(warns == (images.staticTLS * 2 >= images.staticTLSLimit ?? 0))
            }
            let error = try #require(refused?.errors.first)
            #expect(refused?.phase == .load && error.code == .loadFailed && error.connector == "gate")
            #expect(error.message.contains("needs 256 bytes of static TLS"))
            #expect(error.fix?.contains("restart the process") == true)
            #expect(try await host.answer() == Int64(answer))
            // Images without such variables are still taken up.
            try workspace.install(Variant(answer: 99))
            #expect(await host.reload().isActive)
            #expect(try await host.answer() == 99)
            await host.close()
        }
    }
#endif
