/* SPDX-License-Identifier: ISC */
/*
 * The observer: a child of the launcher that reads what the kernel tells of
 * processes, cgroups and the host, so that no process with rights takes these
 * texts apart.  It has the launcher's user, in the fence, and no capability; it
 * can read files and answer, nothing else.
 */
#ifndef LAUNCHER_OBSERVER_OBSERVER_H
#define LAUNCHER_OBSERVER_OBSERVER_H

/*
 * Over its socket come the spawner's SAMPLE, FIND, USER_USE and PROBE as they
 * are, header and payload, and SETTINGS with struct settings.  Back go answers
 * of the same form, in turn, and struct facts as MSG_NONE: when the observer is
 * ready, and before each PROBED.
 */
/* In a fork of the launcher with that socket as UP_SOCK and nothing else. */
void	observer_main(void) __attribute__((noreturn));

#endif
