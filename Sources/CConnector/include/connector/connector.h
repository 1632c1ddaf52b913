/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * connector.h: the whole ABI, for plugins that need all of it. Start reading at base.h and plugin.h.
 */
#ifndef CONNECTOR_H
#define CONNECTOR_H

#include "base.h"
#include "error.h"
#include "host.h"
#include "manifest.h"
#include "operation.h"
#include "plugin.h"
#include "services/clock.h"
#include "services/events.h"
#include "services/gates.h"
#include "services/http.h"
#include "services/log.h"
#include "services/storage.h"

#endif
