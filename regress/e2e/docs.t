#!/bin/sh
# SPDX-License-Identifier: ISC
# The message table in docs/ is what the build's table says, and what the
# documents at the top name is there; each source has its audit level, each claim
# its tests, each command its description, each decision its status; adapters are
# known everywhere; no word of the glossary is left over.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
helpers=${DL_HELPERS:-$top/build/regress/helpers}
bin=${DL_BIN:-$top/build/bin}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# Words in backquotes and targets of links that look like files of the tree.
named() {
	# shellcheck disable=SC2016	# these are backquotes
	grep -Eo '`[^` ]+`|\]\([^)]+\)' "$1" | tr -d '`]()' |
	    grep -E '^([a-zA-Z0-9_.-]+/)+[a-zA-Z0-9_.-]*$|^[a-zA-Z0-9_-]+\.(md|conf)$|^Makefile$' |
	    sort -u
}

# $1: a section's directories and levels; prints DIRECTORY/NAME of each file.
levels() {
	# shellcheck disable=SC2016	# these are backquotes
	awk '/^### / { dir = $2 }
	    /^- [123]:/ { on = 1 }
	    !/^- [123]:/ && !/^  / { on = 0 }
	    on { while (match($0, /`[^`]*`/)) {
		print dir substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, RSTART + RLENGTH) } }' "$top/docs/AUDIT.md"
}

# Also those that nobody has added yet.
files() {
	(cd "$top" && git ls-files --cached --others --exclude-standard "$@") |
	    grep -v '^regress/'
}

# The second kind builds, installs and starts it, and is named as it is.
sources() {
	files | grep -E '\.(c|h|def|y|S|mjs|js|html)$' |
	    sed 's/\.[a-zA-Z]*$//'
	files etc debian '*.mk' '*.lds' 'web/*.json'
	echo ./Makefile
}

# Those of the document that are not there, or are there twice; then those
# that it leaves out.
wrong_levels() {
	levels | sort | uniq -d | sed 's/$/: twice/'
	levels | sort -u >"$out.levels"
	sources | sort -u | comm -3 - "$out.levels" | sed \
	    -e 's/^\t\(.*\)/\1: no such file/' -e t -e 's/$/: has no level/'
	rm -f "$out.levels"
}

# What a table row of docs/THREATS.md is about: actors, then surfaces.
claims() {
	sed -n '/^## Actors/,/^## Surfaces/s/^| \([^|]*\) |.*/\1/p' \
	    "$top/docs/THREATS.md" | grep -v -e '^actor$' -e '^-' |
	    sed 's/:.*//'
	sed -n '/^## Surfaces/,/^## Checks that fail/s/^\*\*\([^*]*\)\*\*.*/\1/p' \
	    "$top/docs/THREATS.md"
}

proofs() {
	sed -n '/^## Tests/,/^## Not/s/^| \([^|]*\) | \(`.*\) |$/\1	\2/p' \
	    "$top/docs/THREATS.md"
}

# Tests that are named and not there, or that nobody runs; claims that name
# none.
wrong_proofs() {
	# shellcheck disable=SC2016	# these are backquotes
	proofs | cut -f 2 | grep -o '`[^`]*`' | tr -d '`' |
	    while read -r word; do
		case $word in
		*/*)	file=$top/regress/$word
			[ -e "$file" ] || echo "no such test: $word" ;;
		*)	grep -qE "^(def )?$word\(" "$file" ||
				echo "no $word in $file"
			[ "$(grep -cw "$word" "$file")" -gt 1 ] ||
				echo "nothing runs $word in $file" ;;
		esac
	done
	claims | while read -r claim; do
		proofs | cut -f 1 | grep -qxF "$claim" ||
			echo "no test is named for: $claim"
	done
}

# $1: a page; $2: a macro; standard input: what it has to describe.  It stands
# where its description begins, or among others of the same kind.
undescribed() {
	while read -r name; do
		grep -qE "^\.(It (Xo )?)?$2 $name( |\$)|^\.It $2 .* , $name( |\$)" \
		    "$top/man/$1" || echo "$1 says nothing about $name"
	done
}

# $1: a program; its commands, those of two words as well
commands_of() {
	"$bin/$1" help --completion | sed '/^-/d; s/:.*//' |
	    while read -r name; do
		echo "$name"
		"$bin/$1" help --completion "$name" </dev/null 2>/dev/null |
		    sed "/^-/d; s/:.*//; s/^/$name /"
	done
}

# Letters, and names with a dash, of the options that help shows.
options_of() {
	{
		"$bin/$1" help
		commands_of "$1" | while read -r name; do
			# shellcheck disable=SC2086	# as above
			"$bin/$1" help $name </dev/null
		done
	} 2>/dev/null |
	    sed -nE 's/^  (-([a-zA-Z]),|   ) --([a-z-]+).*/\2 -\3/p' |
	    tr ' ' '\n' | sed '/^$/d' | sort -u
}

# $1: a program; the options that its page does not name
unnamed_options() {
	options_of "$1" >"$out.options"
	[ "$(wc -l <"$out.options")" -gt 30 ] ||
		echo "only few options of $1 are looked for"
	while read -r name; do
		grep -qE "(^|[ .])Fl $name( |\$)" "$top/man/$1.1" ||
			echo "$1.1 says nothing about option -$name"
	done <"$out.options"
	rm -f "$out.options"
}

keys_of_conf() {
	sed -n 's/^[A-Z]*([A-Z]*, [a-z0-9_]*, "\([a-z][a-z0-9 -]*\)".*/\1/p' \
	    "$top/common/wire/settings.def"
}

# Most are rows of one table.
commands() {
	sed -n 's/^\t{ "\([A-Z]*\)", .*/\1/p' "$top/netproc/cmd/commands.c"
	sed -n 's/^\t\t\.verb = "\([A-Z]*\)",$/\1/p' "$top"/netproc/*/*.c
}

errors() {
	sed -n 's/^ERR([A-Z_]*,[^"]*"\([a-z_]*\)".*/\1/p' \
	    "$top/common/base/errors.def"
}

# Commands with parameters that the section of JSON lines leaves out.
unknown_arguments() {
	sed -n '/^\.Ss Arguments/,/^\.Ss Answers/p' \
	    "$top/man/debuglantern-protocol.7" >"$out.arguments"
	{
		sed -n 's/^\t{ "\([A-Z]*\)", .* params_\([a-z]*\),$/\1 \2/p' \
		    "$top/netproc/cmd/commands.c"
		sed -n 's/^\t\t\.verb = "\([A-Z]*\)",$/\1 some/p' \
		    "$top"/netproc/*/*.c
	} | while read -r name params; do
		[ "$params" = none ] ||
			grep -qE "^\.It Ic (.* , )?$name( |\$)" \
			    "$out.arguments" ||
			echo "debuglantern-protocol.7: Arguments has no $name"
	done
	rm -f "$out.arguments"
}

# The last part of each address, but for what stands for a name.
addresses() {
	sed -nE 's/^\t\{ "[A-Z]+", ([A-Z]+ )?"([^"]*)".*/\2/p' \
	    "$top/netproc/web/route.c" | sed 's,/:[a-z]*$,,; s,.*/,,' | sort -u
}

unknown_addresses() {
	addresses | while read -r name; do
		grep -qwF -e "$name" "$top/man/debuglantern-http.7" ||
			echo "debuglantern-http.7 has no address .../$name"
	done
}

doors() {
	sed -n 's/^\t\t\[DOOR_[A-Z_]*\] = "\([a-z-]*\)",$/\1/p' \
	    "$top/spawner/client/client.c"
}

unknown_doors() {
	doors | while read -r name; do
		grep -qE "^\.Qq $name( |\$)" \
		    "$top/man/debuglantern-protocol.7" ||
			echo "debuglantern-protocol.7 has no door $name"
	done
}

# What commands there are is asked of the table and of the programs.
wrong_pages() {
	commands | undescribed debuglantern-protocol.7 '(Ic|Cm)'
	errors | while read -r name; do
		grep -qw "$name" "$top/man/debuglantern-protocol.7" ||
			echo "debuglantern-protocol.7 has no error $name"
	done
	unknown_arguments
	unknown_addresses
	unknown_doors
	keys_of_conf | undescribed debuglantern.conf.5 Ic
	"$bin/debuglanternctl" help --completion | sed 's/:.*//' |
	    grep -v '^-' | undescribed debuglanternctl.1 Cm
	# of those that are said in two words the second may be left out
	"$bin/debugger" help --completion | sed -e 's/:.*//' -e 's/ add$//' |
	    grep -v '^-' | undescribed debugger.1 Cm
	for count in "$(keys_of_conf | wc -l)" "$(errors | wc -l)" \
	    "$(addresses | wc -l)" \
	    "$("$bin/debuglanternctl" help --completion | wc -l)" \
	    "$("$bin/debugger" help --completion | wc -l)"; do
		[ "$count" -gt 30 ] || echo "only $count of a kind are looked for"
	done
	[ "$(doors | wc -l)" -ge 5 ] || echo 'only few doors are looked for'
}

adapters() {
	sed -n 's/^\t\t\.name = "\([a-z-]*\)",.*/\1/p' \
	    "$top/debugger/dap/profile_table.c"
}

# Rows and lists of adapters that stand elsewhere.
unnamed_adapters() {
	adapters | while read -r name; do
		grep -qF "\"$name\"" "$top/launcher/observer/probe.c" ||
			echo "launcher/observer/probe.c has no row for $name"
		grep -qF ".Dq $name" "$top/man/debuglantern.conf.5" ||
			echo "debuglantern.conf.5 says nothing about $name"
		for file in docs/DEPENDENCIES.md etc/completions/debugger \
		    etc/completions/_debugger; do
			grep -qiwF -e "$name" "$top/$file" ||
				echo "$file does not name $name"
		done
	done
	[ "$(adapters | wc -l)" -ge 5 ] || echo 'only few are looked for'
}

glossary() {
	sed -n 's/^| \([a-z]*\) | [A-Z`].* |$/\1/p' "$top/docs/GLOSSARY.md"
}

# Words of the glossary that the tree no longer uses, or that are there twice.
unused_words() {
	glossary | sort | uniq -d | sed 's/$/: twice/'
	glossary | while read -r word; do
		git -C "$top" grep -qiE "(^|[^a-z])$word(s|es)?([^a-z]|\$)" -- \
		    '*.[chyS]' '*.def' '*.t' '*.py' 'man/*' ||
			echo "docs/GLOSSARY.md: nothing is called $word"
	done
	[ "$(glossary | wc -l)" -gt 40 ] || echo 'only few words are looked for'
}

# $1: number; $2: what must hold; $3: what does not
nothing_of() {
	if [ -z "$3" ]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "$3" | sed 's/^/# /'
	fi
}

echo 1..15
if "$helpers/msgtable" >"$out" && [ -s "$out" ] &&
    ! grep -q '(null)' "$out"; then
	echo 'ok 1 - the table is printed, with a word for everything'
else
	echo 'not ok 1 - the table is printed, with a word for everything'
fi
if diff -u "$top/docs/MESSAGES.md" "$out" >"$out.diff" 2>&1; then
	echo 'ok 2 - docs/MESSAGES.md is what "make docs" prints'
else
	echo 'not ok 2 - docs/MESSAGES.md is what "make docs" prints'
	sed 's/^/# /' "$out.diff" | head -40
fi
rm -f "$out.diff"

count=2
for doc in README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md; do
	count=$((count + 1))
	missing=$(named "$top/$doc" | while read -r file; do
		[ -e "$top/$file" ] ||
			[ "${file#build/}" != "$file" ] || echo "$file"
	done)
	if [ -r "$top/$doc" ] && [ -z "$missing" ]; then
		echo "ok $count - $doc names files that are there"
	else
		echo "not ok $count - $doc names files that are there"
		echo "$missing" | sed 's/^/# not there: /'
	fi
done

nothing_of 7 'docs/AUDIT.md has a level for each source' "$(wrong_levels)"
nothing_of 8 'docs/THREATS.md names a test for each claim, and they exist' \
    "$(wrong_proofs)"
count=$(sources | wc -l)
nothing_of 9 'there are sources to look at' \
    "$([ "$count" -gt 300 ] || echo "only $count")"
count=$(claims | wc -l)
nothing_of 10 'there are claims to look at' \
    "$([ "$count" -gt 25 ] || echo "only $count")"
nothing_of 11 'the man pages describe each command, error, key, address, door' \
    "$(wrong_pages)"
nothing_of 12 'the man pages name each option that help shows' \
    "$(unnamed_options debuglanternctl; unnamed_options debugger)"
nothing_of 13 'each debug adapter is known wherever adapters are' \
    "$(unnamed_adapters)"
nothing_of 14 'each decision has a date, a status and its row in the index' \
    "$("$top/regress/static/decisions.py" "$top/docs/decisions" 2>&1)"
nothing_of 15 'each word of docs/GLOSSARY.md is in use' "$(unused_words)"
