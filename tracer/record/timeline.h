/* SPDX-License-Identifier: ISC */
/*
 * The session's timeline: its files, what is put into it, and when.  There is
 * one, from the first program on to the end of the tracer.
 */
#ifndef TRACER_TIMELINE_H
#define TRACER_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "feed.h"
#include "process.h"
#include "timeline/store/store.h"
#include "wire/insthello.h"

/* NULL = there is none yet. */
struct store *timeline_store(void);
/*
 * Makes it, before there is a process; done(NULL) once it is there, at once or
 * later, or done(why): there is no room for it.
 */
void	 timeline_make(const struct trc_hello *, const struct store_meta *,
	    void (*done)(const char *why));
/* That of a predecessor, if there is one; done() as above, once. */
void	 timeline_resume(const struct trc_hello *, void (*done)(const char *));
void	 timeline_file(enum trc_file, int fd);
/* Its path without the suffixes; NULL = it is in memory. */
const char *timeline_path(void);
/* So many bytes are left for its calls, or as many as there may ever be. */
void	 timeline_limit(uint64_t calls);
/*
 * The last words: all that has been seen is in it.  keep: its files stay.
 * Else they are removed.
 */
void	 timeline_close(bool keep);

/* -- what comes in -------------------------------------------------------- */
void	 timeline_event(struct process *, const struct target_event *);
void timeline_write(const struct target_write *);
void	 timeline_forked(struct process *);
/* Reads what the probes of one process have recorded; of all, and output. */
void	 timeline_read_one(struct process *);
void	 timeline_read(void);
/* Up to then (CLOCK_MONOTONIC, ns) nothing will come any more. */
uint64_t timeline_settled(void);
/* There are probes, or none any more; new ones may have much to tell. */
void	 timeline_pace(bool is_new);
/*
 * From begin to end (of what asks the timeline) only reading goes on: what
 * else there is to do has to wait.
 */
void	 timeline_busy(bool);
/* Sets what does what was put off. */
void	 timeline_when_idle(void (*)(void));
bool	 timeline_is_busy(void);
/* Counts whatever has been added to it. */
uint64_t timeline_grown(void);
/* Something has been, by others than the probes. */
void	 timeline_told(void);

/* -- output (output.c) ---------------------------------------------------- */
/* Whether a predecessor has had what is in the first ring. */
void	 output_resumed(bool);
/* From the link; see struct link_handlers. */
void	 trc_ring(int fd);
void	 trc_output_notice(uint64_t total);
/* From which byte of a ring on it belongs to the timeline. */
void	 output_from_now(void);
/* Reads all output that is in the ring by now. */
void	 output_drain(void);
/* Its end by now: who wrote what comes before it can be known. */
uint64_t output_end(void);
/* By timeline_read() alone: as far as that; all of it is later than `told`. */
void output_put(uint64_t upto, uint64_t now, uint64_t told);

#endif
