// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Written by `make layout` from the table in connector/layout.h; not edited.

import CConnector
import Testing

/// The structs of the ABI lie in memory for Swift as they do for C.
@Suite struct LayoutTests {
    @Test func `connector error`() {
        #expect(MemoryLayout<connector_error>.size == 1024)
        #expect(MemoryLayout<connector_error>.offset(of: \.struct_size) == 0)
        #expect(MemoryLayout<connector_error>.offset(of: \.code) == 4)
        #expect(MemoryLayout<connector_error>.offset(of: \.retryable) == 8)
        #expect(MemoryLayout<connector_error>.offset(of: \.detail) == 12)
        #expect(MemoryLayout<connector_error>.offset(of: \.retry_after_ns) == 16)
        #expect(MemoryLayout<connector_error>.offset(of: \.domain) == 24)
        #expect(MemoryLayout<connector_error>.offset(of: \.message) == 56)
    }

    @Test func `connector call`() {
        #expect(MemoryLayout<connector_call>.size == 24)
        #expect(MemoryLayout<connector_call>.offset(of: \.struct_size) == 0)
        #expect(MemoryLayout<connector_call>.offset(of: \.flags) == 4)
        #expect(MemoryLayout<connector_call>.offset(of: \.operation) == 8)
        #expect(MemoryLayout<connector_call>.offset(of: \.deadline_ns) == 16)
    }

    @Test func `connector bytes owned`() {
        #expect(unsafe MemoryLayout<connector_bytes_owned>.size == 40)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.data) == 8)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.length) == 16)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.context) == 24)
        #expect(unsafe MemoryLayout<connector_bytes_owned>.offset(of: \.release) == 32)
    }

    @Test func `connector host`() {
        #expect(unsafe MemoryLayout<connector_host>.size == 40)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.abi_version) == 4)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.service) == 16)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.complete) == 24)
        #expect(unsafe MemoryLayout<connector_host>.offset(of: \.progress) == 32)
    }

    @Test func `connector plugin`() {
        #expect(MemoryLayout<connector_plugin>.size == 56)
        #expect(MemoryLayout<connector_plugin>.offset(of: \.struct_size) == 0)
        #expect(MemoryLayout<connector_plugin>.offset(of: \.abi_version) == 4)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.create) == 8)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.open) == 16)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.probe) == 24)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.close) == 32)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.destroy) == 40)
        #expect(unsafe MemoryLayout<connector_plugin>.offset(of: \.cancel) == 48)
    }

    @Test func `connector log`() {
        #expect(unsafe MemoryLayout<connector_log>.size == 24)
        #expect(unsafe MemoryLayout<connector_log>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_log>.offset(of: \.level) == 4)
        #expect(unsafe MemoryLayout<connector_log>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_log>.offset(of: \.log) == 16)
    }

    @Test func `connector clock`() {
        #expect(unsafe MemoryLayout<connector_clock>.size == 48)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.wall_ns) == 16)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.monotonic_ns) == 24)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.start_timer) == 32)
        #expect(unsafe MemoryLayout<connector_clock>.offset(of: \.cancel_timer) == 40)
    }

    @Test func `connector http header`() {
        #expect(unsafe MemoryLayout<connector_http_header>.size == 32)
        #expect(unsafe MemoryLayout<connector_http_header>.offset(of: \.name) == 0)
        #expect(unsafe MemoryLayout<connector_http_header>.offset(of: \.name_length) == 8)
        #expect(unsafe MemoryLayout<connector_http_header>.offset(of: \.value) == 16)
        #expect(unsafe MemoryLayout<connector_http_header>.offset(of: \.value_length) == 24)
    }

    @Test func `connector http request`() {
        #expect(unsafe MemoryLayout<connector_http_request>.size == 88)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.method) == 8)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.method_length) == 16)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.url) == 24)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.url_length) == 32)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.headers) == 40)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.header_count) == 48)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.body) == 56)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.body_length) == 64)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.deadline_ns) == 72)
        #expect(unsafe MemoryLayout<connector_http_request>.offset(of: \.during) == 80)
    }

    @Test func `connector http response`() {
        #expect(unsafe MemoryLayout<connector_http_response>.size == 40)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.status) == 4)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.headers) == 8)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.header_count) == 16)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.body) == 24)
        #expect(unsafe MemoryLayout<connector_http_response>.offset(of: \.body_length) == 32)
    }

    @Test func `connector http`() {
        #expect(unsafe MemoryLayout<connector_http>.size == 56)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.request) == 16)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.cancel) == 24)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.stream) == 32)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.resume) == 40)
        #expect(unsafe MemoryLayout<connector_http>.offset(of: \.write) == 48)
    }

    @Test func `connector http receiver`() {
        #expect(unsafe MemoryLayout<connector_http_receiver>.size == 48)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.part) == 8)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.done) == 16)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.user) == 24)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.silence_ns) == 32)
        #expect(unsafe MemoryLayout<connector_http_receiver>.offset(of: \.room) == 40)
    }

    @Test func `connector gates call`() {
        #expect(unsafe MemoryLayout<connector_gates_call>.size == 72)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.use) == 8)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.use_length) == 16)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.operation) == 24)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.operation_length) == 32)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.arguments) == 40)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.arguments_length) == 48)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.deadline_ns) == 56)
        #expect(unsafe MemoryLayout<connector_gates_call>.offset(of: \.during) == 64)
    }

    @Test func `connector gates`() {
        #expect(unsafe MemoryLayout<connector_gates>.size == 40)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.call) == 16)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.cancel) == 24)
        #expect(unsafe MemoryLayout<connector_gates>.offset(of: \.bound) == 32)
    }

    @Test func `connector events`() {
        #expect(unsafe MemoryLayout<connector_events>.size == 24)
        #expect(unsafe MemoryLayout<connector_events>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_events>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_events>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_events>.offset(of: \.emit) == 16)
    }

    @Test func `connector storage`() {
        #expect(unsafe MemoryLayout<connector_storage>.size == 56)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.struct_size) == 0)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.flags) == 4)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.context) == 8)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.get) == 16)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.set) == 24)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.remove) == 32)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.list) == 40)
        #expect(unsafe MemoryLayout<connector_storage>.offset(of: \.replace) == 48)
    }
}
