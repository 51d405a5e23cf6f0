/* SPDX-License-Identifier: ISC */
/* A program that was let run, and that its adapter has left where it was. */
#ifndef DEBUGGER_RUN_RESUME_CHECK_H
#define DEBUGGER_RUN_RESUME_CHECK_H

/*
 * It is being let run, or asked to stop: looks at it from time to time until
 * it stops or ends.  found is called once if it stands all the same.
 */
void resume_watch(void (*found)(void));

#endif
