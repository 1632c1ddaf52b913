/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <sandbox.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *sandbox_error_text(int32_t error) { return strerror(error); }

#ifdef __linux__
#include "filter.h"
#include "layers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

void sandbox_holds(sandbox_outcome *outcome, int32_t version) {
    outcome->holds = 1;
    outcome->version = version;
}

void sandbox_fails(sandbox_outcome *outcome, const char *what, int error) {
    outcome->holds = 0;
    outcome->error = error;
    snprintf(outcome->detail, sizeof outcome->detail, "%s", what);
}

void sandbox_lacks(sandbox_outcome *outcome, const char *what) {
    const size_t length = strlen(outcome->detail);
    snprintf(outcome->detail + length, sizeof outcome->detail - length, "%s%s", length == 0 ? "" : "; ", what);
}

void sandbox_leaves_out(sandbox_outcome *outcome, const char *path) {
    char text[sizeof outcome->detail];
    snprintf(text, sizeof text, "left out, since it cannot be opened: %s", path);
    sandbox_lacks(outcome, text);
}

/** What the broad filter of this process asks about. */
static uint32_t asks = SANDBOX_ASKS_NONE;

/** Installs the broad filter: if possible one that asks the parent, which thereby learns what it refuses. */
static int install_broad_filter(const sandbox_settings *settings) {
    if (settings->successor < 0) return sandbox_filter_install(settings, 0, SANDBOX_ASKS_NONE);
    const int32_t unreported = sandbox_filter_report(settings);
    if (unreported == 0) {
        asks = SANDBOX_ASKS_REFUSED;
        return 0;
    }
    /* It takes precedence over one that asks. */
    const int error = sandbox_filter_install(settings, 0, SANDBOX_ASKS_NONE);
    if (error == 0) (void)send(settings->successor, &unreported, sizeof unreported, MSG_NOSIGNAL);
    return error;
}

static void put_filter_on(const sandbox_settings *settings, int is_narrow, sandbox_outcome *outcome) {
    const int error = is_narrow ? sandbox_filter_install(settings, 1, asks) : install_broad_filter(settings);
    if (error == 0) {
        sandbox_holds(outcome, is_narrow + 1);
    } else if (error == ENOTSUP) {
        sandbox_fails(outcome, "no table for this architecture", error);
    } else {
        sandbox_fails(outcome, "the kernel refuses it", error);
    }
}

void sandbox_end_with_host(int32_t host, int is_inside) {
    if (host == 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!is_inside && getppid() != 0 && getppid() != host) _exit(0);
}

void sandbox_enter(const sandbox_settings *settings, sandbox_outcome *outcomes) {
    memset(outcomes, 0, SANDBOX_LAYER_COUNT * sizeof *outcomes);
    sandbox_keep_descriptors(settings, &outcomes[SANDBOX_DESCRIPTORS]);
    sandbox_leave_root(&outcomes[SANDBOX_IDENTITY]);
    sandbox_end_with_host(settings->host, 0);
    if (settings->successor >= 0) {
        sandbox_enter_namespaces(settings, &outcomes[SANDBOX_NAMESPACES]);
    } else {
        sandbox_fails(&outcomes[SANDBOX_NAMESPACES], "not asked for", ENOTSUP);
    }
    /* Landlock and the filter require that privileges cannot be regained. */
    sandbox_drop_capabilities(&outcomes[SANDBOX_IDENTITY]);
    sandbox_restrict_files(settings, outcomes[SANDBOX_NAMESPACES].holds, &outcomes[SANDBOX_LANDLOCK]);
    sandbox_bound(settings, outcomes[SANDBOX_NAMESPACES].holds, &outcomes[SANDBOX_LIMITS]);
    put_filter_on(settings, 0, &outcomes[SANDBOX_FILTER]);
    if (settings->successor >= 0) close(settings->successor);
}

void sandbox_narrow(const sandbox_settings *settings, sandbox_outcome *outcome) {
    put_filter_on(settings, 1, outcome);
}
#else
void sandbox_enter(const sandbox_settings *settings, sandbox_outcome *outcomes) {
    (void)settings;
    memset(outcomes, 0, SANDBOX_LAYER_COUNT * sizeof *outcomes);
    for (int index = 0; index < SANDBOX_LAYER_COUNT; index++) {
        outcomes[index].error = ENOTSUP;
        snprintf(outcomes[index].detail, sizeof outcomes[index].detail, "there is none on this system");
    }
}

void sandbox_narrow(const sandbox_settings *settings, sandbox_outcome *outcome) { (void)settings, (void)outcome; }

int32_t sandbox_prove(const sandbox_settings *settings, sandbox_attempt *attempts) {
    (void)settings, (void)attempts;
    return 0;
}

int32_t sandbox_refuse(int32_t listener, sandbox_refusal *refusal) { return (void)listener, (void)refusal, -ENOTSUP; }
#endif
