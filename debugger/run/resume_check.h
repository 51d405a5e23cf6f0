/* SPDX-License-Identifier: ISC */
/*
 * A program that was let run, and that its adapter has left where it was; or
 * lets run after it has refused to.
 */
#ifndef DEBUGGER_RUN_RESUME_CHECK_H
#define DEBUGGER_RUN_RESUME_CHECK_H

/*
 * It is being let run, or asked to stop: looks at it from time to time until
 * it stops or ends.  found is called once if it stands all the same.
 */
void resume_watch(void (*found)(void));
/*
 * It stays where the kernel holds it: looks from time to time, until another
 * request, whether it runs after all.  found is called once if it does.
 */
void resume_stayed(void (*found)(void));
/* Looks now: before a request is answered by what was known. */
void resume_look(void);

#endif
