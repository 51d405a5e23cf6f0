/* SPDX-License-Identifier: ISC */
/* State that outlives the spawner: files that the parent opened. */
#ifndef SPAWNER_STATE_H
#define SPAWNER_STATE_H

/* The number that the filter allows to be written to; of nothing else. */
#define TOKENS_FD	9

/*
 * Before the confinement: waits for the tokens' file, which the parent sends
 * directly after SETUP, and reads it.
 */
void	 state_receive(void);

#endif
