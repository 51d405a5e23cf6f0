// SPDX-License-Identifier: ISC
// Numbers, times and ends of programs, in words.

export function bytes(n) {
	const units = ["B", "KB", "MB", "GB", "TB"];
	let i = 0;

	if (n === null || n === undefined)
		return "";
	while (n >= 1000 && i < units.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i === 0 || n >= 99.5 ? Math.round(n) : n.toFixed(1)} ` +
	    units[i];
}

const SPANS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// "3 min 20 s": two units at most, and one where the first is large.
export function span(ms) {
	let s = Math.max(0, Math.round(ms / 1000));
	const parts = [];

	if (ms < 1000 && ms >= 0)
		return `${Math.round(ms)} ms`;
	for (const [unit, size] of SPANS) {
		if (s < size)
			continue;
		parts.push(`${Math.floor(s / size)} ${unit}`);
		s %= size;
		if (parts.length === 2)
			break;
	}
	return parts.join(" ") || "0 s";
}

// How far the daemon's clock is ahead of this one: its times are by it.
let ahead = 0;
const NEAR_MS = 5000;

// date: as an answer of the daemon says it, to the second.
export function setClock(date) {
	const ms = Date.parse(date) - Date.now();

	if (!Number.isNaN(ms))
		ahead = Math.abs(ms) < NEAR_MS ? 0 : ms;
}

export function now() {
	return Date.now() + ahead;
}

export function age(iso) {
	return iso ? span(now() - Date.parse(iso)).split(" ")
	    .slice(0, 2).join(" ") : "";
}

const clock = new Intl.DateTimeFormat(undefined,
    { dateStyle: "medium", timeStyle: "medium" });

export function when(iso) {
	const t = typeof iso === "number" ? iso * 1000 : Date.parse(iso);

	return Number.isNaN(t) ? String(iso) : clock.format(t);
}

export function count(n, one, many = one + "s") {
	return `${n} ${n === 1 ? one : many}`;
}

export function short(id) {
	return id.slice(0, 8);
}

// What is not seen, or turns round what stands beside it, by its number.
const UNSEEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c" +
    "\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff" +
    "\\ufff9-\\ufffb]", "g");

export function plain(words) {
	return words.replace(UNSEEN, (c) => c === "\n" ? "\\n" :
	    c === "\t" ? "\\t" : "\\u" +
	    c.charCodeAt(0).toString(16).padStart(4, "0"));
}

export function brief(words, max) {
	return words.length > max ?
	    Array.from(words).slice(0, max - 1).join("") + "…" : words;
}

// -- sessions ---------------------------------------------------------------

const SIGNALS = {
	SIGABRT: "it aborted itself",
	SIGALRM: "an alarm ended it",
	SIGBUS: "it touched memory that is not there",
	SIGFPE: "impossible arithmetic, such as a division by zero",
	SIGHUP: "its terminal went away",
	SIGILL: "an instruction that the processor does not know",
	SIGINT: "interrupted, as by Ctrl-C",
	SIGKILL: "killed",
	SIGPIPE: "nobody read what it wrote",
	SIGQUIT: "quit, as by Ctrl-\\",
	SIGSEGV: "it used memory that is not its own",
	SIGSYS: "a system call that the sandbox does not allow",
	SIGTERM: "asked to end",
	SIGTRAP: "a breakpoint without a debugger",
	SIGXCPU: "its limit of CPU time was used up",
	SIGXFSZ: "its limit of file size was passed",
};

const CRASHES = /^SIG(ABRT|BUS|FPE|ILL|SEGV|SYS|TRAP)$/;

const CODES = {
	126: "the command could not be executed",
	127: "the command was not found",
};

// How a program ended: { words, detail, bad }, or null while it has not.
export function ending(s) {
	if (s.signal) {
		const crash = CRASHES.test(s.signal);

		return { words: (crash ? "crashed: " : "ended by ") + s.signal,
		    detail: s.out_of_memory ? "its memory was used up" :
		    SIGNALS[s.signal] ?? "", bad: crash };
	}
	if (s.exit_code === null || s.exit_code === undefined)
		return null;
	if (s.exit_code === 0)
		return { words: "finished", detail: "exit code 0", bad: false };
	return { words: `exit code ${s.exit_code}`,
	    detail: CODES[s.exit_code] ?? "the program says that it failed",
	    bad: true };
}

const STATES = {
	LOADED: "loaded",
	RUNNING: "running",
	DEBUGGING: "debugging",
	STOPPED: "stopped",
};

export function isActive(s) {
	return s.state === "RUNNING" || s.state === "DEBUGGING";
}

// How it looks: lit, debug, idle, done or bad.
export function lamp(s) {
	if (s.state === "DEBUGGING")
		return "debug";
	if (isActive(s))
		return "lit";
	if (s.state === "LOADED")
		return "idle";
	return ending(s)?.bad ? "bad" : "done";
}

export function stateWords(s) {
	return STATES[s.state] ?? String(s.state).toLowerCase();
}

const TITLE_MAX = 100;

export function title(s) {
	return brief(plain(s.name ?? (s.command?.length > 0 ?
	    s.command.join(" ") : s.exec_path || short(s.id))), TITLE_MAX);
}

// -- words of a command line --------------------------------------------------

// As a shell splits without expanding: quotes and backslashes.
export function split(line) {
	const words = [];
	let word = null, quote = "";

	for (let i = 0; i < line.length; i++) {
		const c = line[i];

		if (quote !== "") {
			if (c === quote)
				quote = "";
			else if (c === "\\" && quote === '"' &&
			    /["\\$`]/.test(line[i + 1] ?? ""))
				word += line[++i];
			else
				word += c;
		} else if (c === "'" || c === '"') {
			quote = c;
			word ??= "";
		} else if (c === "\\") {
			if (i + 1 === line.length)
				throw new Error("a backslash stands at the end");
			word = (word ?? "") + line[++i];
		} else if (/\s/.test(c)) {
			if (word !== null)
				words.push(word);
			word = null;
		} else
			word = (word ?? "") + c;
	}
	if (quote !== "")
		throw new Error(`the quotation mark ${quote} is not closed`);
	if (word !== null)
		words.push(word);
	return words;
}

export function quote(words) {
	return words.map((w) => /^[\w@%+=:,./-]+$/.test(w) ? w :
	    "'" + w.replaceAll("'", "'\\''") + "'").join(" ");
}
