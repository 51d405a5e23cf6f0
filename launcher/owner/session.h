/* SPDX-License-Identifier: ISC */
/*
 * The three processes of a start.  The first becomes the owner, enters the
 * session's user namespace, and makes the pipes and the stub; while that makes
 * the other namespaces and what is in them, it makes the network.  Then the
 * stub starts the program.
 */
#ifndef LAUNCHER_OWNER_SESSION_H
#define LAUNCHER_OWNER_SESSION_H

/* An owner_fn; arg is a struct run_spec, KEPT_FD the image or bundle. */
void	session_first(const void *arg) __attribute__((noreturn));

#endif
