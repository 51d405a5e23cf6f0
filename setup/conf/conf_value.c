/* SPDX-License-Identifier: ISC */
/*
 * Strict numbers and sizes. The library's strto*() take signs, blanks and
 * other bases; a limit that was misread is worse than a refused one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf.h"

static const struct {
	char	 suffix;
	int	 shift;
} units[] = {
	{ 'G', 30 },
	{ 'M', 20 },
	{ 'K', 10 },
};
#define NUNITS	(sizeof(units) / sizeof(units[0]))

/* Returns what follows the digits; NULL: no digit, or over 64 bits. */
static const char *
digits(const char *s, uint64_t *out)
{
	const char	*p;
	uint64_t	 v = 0, d;

	for (p = s; *p >= '0' && *p <= '9'; p++) {
		d = (uint64_t)(*p - '0');
		if (v > (UINT64_MAX - d) / 10)
			return NULL;
		v = v * 10 + d;
	}
	*out = v;
	return p == s ? NULL : p;
}

int
conf_parse_number(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	const char	*end;
	uint64_t	 v;

	end = digits(s, &v);
	if (end == NULL || *end != '\0' || v < min || v > max)
		return -1;
	*out = v;
	return 0;
}

static int
unit_shift(const char *suffix)
{
	size_t	i;

	if (*suffix == '\0')
		return 0;
	for (i = 0; i < NUNITS; i++) {
		if (suffix[0] == units[i].suffix && suffix[1] == '\0')
			return units[i].shift;
	}
	return -1;
}

int
conf_parse_size(const char *s, uint64_t *out)
{
	const char	*end;
	uint64_t	 v;
	int		 shift;

	end = digits(s, &v);
	if (end == NULL || (shift = unit_shift(end)) == -1)
		return -1;
	if (v > UINT64_MAX >> shift)
		return -1;
	*out = v << shift;
	return 0;
}

void
conf_format_size(uint64_t v, char out[24])
{
	uint64_t	mask;
	size_t		i;

	for (i = 0; i < NUNITS; i++) {
		mask = ((uint64_t)1 << units[i].shift) - 1;
		if (v != 0 && (v & mask) == 0) {
			snprintf(out, 24, "%" PRIu64 "%c",
			    v >> units[i].shift, units[i].suffix);
			return;
		}
	}
	snprintf(out, 24, "%" PRIu64, v);
}
