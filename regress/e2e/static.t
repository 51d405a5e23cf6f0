#!/bin/sh
# SPDX-License-Identifier: ISC
# The sources as analyzers see them that take seconds: spelling, scripts, man
# pages, sentences, subjects of commits and what directories use.  Those that take minutes are asked
# by analyzers.t.  The analyzers of the project's own find faults that are there.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
static=$top/regress/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# $1: what is looked at; $2: lines that have a fault; standard input: what was
# found, each after a name and the line
finds() {
	got=$(sed -n 's/^[^:]*:\([0-9]*\): .*/\1/p' | paste -sd' ')
	[ "$got" = "$2" ] || printf 'not '
	echo "ok - faults of $1 are in lines $2${got:+, found in $got}"
}

cat >"$work/page.md" <<'EOF'
## What is refused

What is refused: nothing. One process reads it, of two.

- Of these it has none.
- A client says what it is.
  Whoever it is may.

| row | nobody; he reads it |

    What an example says
EOF
cat >"$work/page.1" <<'EOF'
.Sh WHAT IS SAID
A flag of
.Ar what .
.Pp
Those are read.
.Pp
Is this asked?
What is asked?
.It Fl x
Of
.Fl y
nothing.
EOF
cat >"$work/file.c" <<'EOF'
/* What it is. */
int a; /* a client of ours */
char *b = "what is right", *c = "say what is right "
    "of what is";
/* tells
 * him */
EOF
cat >"$work/subjects" <<'EOF'
netproc, man: bring back what is in need
netproc: refuses clients
netproc: the client is refused
netproc: refuse clients that have sent more than anybody can read
refuse clients
Revert "netproc: refuse clients"
EOF

cat >"$work/wings" <<'EOF'
netproc/text: web
netproc/web: text conn cmd term
cycle netproc 1
EOF

{
	DL_STATIC=wings "$static/check.sh" "$DL_BUILD" 2>&1
	"$static/wings.py" "$DL_BUILD" "$work/wings" |
	    sed 's/.*may not use netproc.mcp$/x:1: &/
		s/.* nothing of netproc.web any more$/x:2: &/
		s/.* files that all use each other.*/x:3: &/' |
	    finds 'uses of directories' '1 2 3'
	DL_STATIC=tcb "$static/check.sh" "$DL_BUILD" 2>&1
	sed '/^| .parent.main.c/d' "$static/../../docs/TCB.md" >"$work/tcb.md"
	"$static/tcb.py" "$DL_BUILD" "$work/tcb.md" |
	    sed 's/.*the table parent is not.*/x:1: &/' | finds privilege 1
	sed 's/ session_first/ cgroup_make/; s/^most launcher .*/most launcher 9/' \
	    "$static/tcb.txt" >"$work/tcb.txt"
	"$static/tcb.py" "$DL_BUILD" "$static/../../docs/TCB.md" \
	    "$work/tcb.txt" |
	    sed 's/.*cgroup_make is not called from there.*/x:1: &/
		s/.*session_first is called with rights.*/x:2: &/
		s/^launcher: .* lines run with rights.*/x:3: &/' |
	    finds 'ways into code without rights' '1 2 3'
	DL_STATIC='spell shell man plain subjects' "$static/check.sh" "$work" \
	    2>&1
	"$static/plain.py" "$work/page.md" | finds Markdown '3 5 7 9'
	"$static/plain.py" "$work/page.1" | finds 'man pages' '5 10'
	"$static/plain.py" "$work/file.c" | finds C '1 3 5'
	awk '{ print 4000000000, "x:" NR, $0 }' "$work/subjects" |
	    "$static/subjects.py" | finds subjects '2 3 4 5'
	awk '{ print 1000000000, "x:" NR, $0 }' "$work/subjects" |
	    "$static/subjects.py" | finds 'older subjects' ''
} >"$work/out"
# of the same form but without numbers
awk '/^(not )?ok - / { sub("ok -", "ok " ++n " -") } { print }
    END { print "1.." n }' "$work/out"
