// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Converts a C function to a table field that declares the same function with other nullability.
///
/// The thunks of the host's tables take optional pointers where a header says non-null: a plugin may pass null all the same, and
/// gets a status. A null pointer and a pointer have one representation in C, so both types describe one function.
package func fitting<Function, Field>(_ function: Function) -> Field {
    unsafe unsafeBitCast(function, to: Field.self)
}
