// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The files that projects are made of. They stand in the program, which needs nothing beside it.
enum Embedded {}
