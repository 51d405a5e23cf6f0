/* SPDX-License-Identifier: ISC */
/* Values that are nowhere in its source, and an exception that tells one. */
#include <cstdio>
#include <stdexcept>
#include <string>

static int total;

static void
work(int code, const char *word)
{
	int twice = code * 2;

	printf("its own output\n");
	fflush(stdout);
	total += twice + word[0]; /* the stop */
	if (code > 5 * 19753 + 1)
		throw std::runtime_error(word);
}

int
main(int argc, char **)
{
	std::string word = "s3";
	int i;

	word += "cret";
	for (i = 0; i < 9; i++)
		work(argc * 5 * 19753 + i, word.c_str());
	return 0;
}
