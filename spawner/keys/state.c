/* SPDX-License-Identifier: ISC */
/* The file that the parent opened for the spawner: the tokens'. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "state.h"
#include "tokens.h"
#include "wire/handlers.h"
#include "wire/proto.h"
#include "wire/role.h"

void
state_receive(void)
{
	tokens_init();
	if (chan_recv_one(&parent_chan) == -1 || !tokens_are_open())
		fatalx("the second message was not STATE_FILE");
}

int
spawn_on_state_file(struct msg *m)
{
	uint32_t which = msg_get_u32(m);

	/* once: later the filter keeps the number for what it is now */
	if (msg_end(m) == -1 || which != STATE_TOKENS || tokens_are_open())
		return -1;
	if (dup3(m->fd, TOKENS_FD, O_CLOEXEC) == -1 ||
	    tokens_open(TOKENS_FD) == -1)
		role_cannot("read the tokens' file",
		    "look after the state directory's file system");
	return 0;
}
