/* SPDX-License-Identifier: ISC */
/* Failures to store, which are said once until it works again. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "store_int.h"

void
trouble_set(char words[STORE_WHY], const char *what, int err)
{
	bool news = words[0] == '\0';

	if (err == 0)
		snprintf(words, STORE_WHY, "the timeline is not stored: %s",
		    what);
	else
		snprintf(words, STORE_WHY, "the timeline's %s cannot be "
		    "stored: %s; what comes meanwhile is lost", what,
		    strerror(err));
	if (news)
		log_warnx("%s", words);
}

void
trouble_clear(char words[STORE_WHY])
{
	if (words[0] != '\0')
		log_info("the timeline is stored again");
	words[0] = '\0';
}

const char *
store_trouble(const struct store *st)
{
	if (st->calls_trouble[0] != '\0')
		return st->calls_trouble;
	return st->db_trouble[0] != '\0' ? st->db_trouble : NULL;
}
