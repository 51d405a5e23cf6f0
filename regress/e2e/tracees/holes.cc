/* SPDX-License-Identifier: ISC */
/* Writes NULs, and has them in its strings. */
#include <stdio.h>
#include <string>

__attribute__((noinline)) std::string
holes(const std::string &s)
{
	return s + std::string("\0!", 2);
}

int
main()
{
	fwrite("a\0b\n", 1, 4, stdout);
	fflush(stdout);
	return holes(std::string("x\0y", 3)).size() != 5;
}
