/* SPDX-License-Identifier: ISC */
/* Writing a description, and the steps that capture what it describes. */
#ifndef SYMBOLS_MAKER_H
#define SYMBOLS_MAKER_H

#include "abi.h"
#include "typed.h"

#define MAKER_VALUES	33
#define MAKER_PARTS	128
#define MAKER_NODES	192
#define MAKER_ENUMS	128
#define MAKER_STRS	3072

struct maker {
	struct dwarf	*d;
	enum sym_lang	 lang;
	struct capture	*steps;		/* of entry or of return */
	size_t		 nsteps;
	struct desc_header head;
	struct desc_value values[MAKER_VALUES];
	struct desc_part parts[MAKER_PARTS];
	struct desc_node nodes[MAKER_NODES];
	struct desc_enum enums[MAKER_ENUMS];
	char		 strs[MAKER_STRS];
};

void	maker_init(struct maker *, struct dwarf *, enum sym_lang);
/* Sets the array of CAPTURE_MAX that takes the steps of values added later. */
void	maker_steps(struct maker *, struct capture *);
/* An argument, or the result; false when there is no room for it. */
bool	maker_value(struct maker *, const char *name, size_t name_len,
	    uint64_t type, const struct place *);
uint32_t maker_str(struct maker *, const char *, size_t len);
/* Puts all together.  Returns its length, 0 when it does not fit. */
size_t	maker_finish(struct maker *, uint8_t *out, size_t size);

#endif
