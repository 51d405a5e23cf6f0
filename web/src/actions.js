// SPDX-License-Identifier: ISC
// What can be done with sessions, by buttons, menus and keys alike.
import { del, me, post, put, ref } from "./api.js";
import { check, field, h, select } from "./dom.js";
import { isActive, split, title } from "./format.js";
import { go } from "./router.js";
import { complain, confirm, copyLine, dialog, formDialog, notice } from
    "./ui.js";

export function mayUse(s) {
	return !me.read_only && (s.owner === me.user || me.admin ||
	    s.shared?.some((x) => x.user === me.user && x.access === "rw"));
}

export function mayOwn(s) {
	return !me.read_only && (s.owner === me.user || me.admin);
}

// Keys for others are the owner's alone to give.
export function isOwner(s) {
	return !me.read_only && s.owner === me.user;
}

export const start = (s, how = {}) => post(ref(s.id, "/start"), how);
export const stop = (s) => post(ref(s.id, "/stop"));
export const kill = (s) => post(ref(s.id, "/kill"));
export const remove = (s) => del(ref(s.id));
export const rename = (s, name) => put(ref(s.id, "/name"), { name });

// The same for several: what failed is told at the end, once.
export async function each(list, f, done) {
	const results = await Promise.allSettled(list.map((s) => f(s)));
	const failed = results.filter((r) => r.status === "rejected");

	if (failed.length < list.length)
		notice(`${done}: ${list.length - failed.length}.`);
	if (failed.length > 0)
		complain(failed[0].reason);
}

export async function removeAsking(list) {
	const busy = list.filter(isActive);
	const what = list.length === 1 ? title(list[0]) :
	    `${list.length} sessions`;

	if (!await confirm(`Delete ${what}?`, busy.length > 0 ?
	    "What still runs is killed first. Output and image are gone " +
	    "for good." : "Output and image are gone for good.", "Delete"))
		return false;
	await each(list, async (s) => {
		if (isActive(s))
			await kill(s);
		await remove(s);
	}, "Deleted");
	return true;
}

// -- starting with choices ----------------------------------------------------

const LIMITS = [
	["cpu", "CPU time", "seconds"],
	["as", "address space", "bytes"],
	["nofile", "open files", ""],
	["nproc", "processes", ""],
	["core", "core file", "bytes"],
];

// What was in a field of one line, which leaves out ends of lines: untouched,
// it is what it was.
function keeper(input, value) {
	const shown = input.value;

	return () => (input.value === shown ? value : input.value);
}

export function envFields(env = {}) {
	const rows = h("div.envrows"), kept = new Map();
	const one = (key, value) => {
		const row = h("div.envrow",
		    h("input", { value: key, placeholder: "NAME",
			"aria-label": "variable", spellcheck: "false" }),
		    h("input", { value, placeholder: "value",
			"aria-label": "value", spellcheck: "false" }),
		    h("button.quiet.square", { type: "button",
			"aria-label": "Remove this variable",
			onclick: () => row.remove() }, "×"));

		kept.set(row, keeper(row.children[1], value));
		rows.append(row);
	};

	for (const [k, v] of Object.entries(env))
		one(k, v);
	return { el: h("fieldset", h("legend", "Environment"), rows,
	    h("button.quiet.small", { type: "button",
		onclick: () => {
			one("", "");
			rows.lastChild.firstChild.focus();
		} }, "Add a variable")),
	value: () => Object.fromEntries([...rows.children].map((r) =>
	    [r.children[0].value.trim(), kept.get(r)()])
	    .filter(([k]) => k !== "")) };
}

export function limitFields() {
	const inputs = LIMITS.map(([key, label, unit]) => [key, field(label,
	    h("input", { placeholder: unit || "number", inputmode: "numeric",
		pattern: "[0-9]+|unlimited",
		title: "a number, or unlimited" }))]);

	return { el: h("fieldset", h("legend", "Limits"),
	    h("p.hint", "Empty: as it was set before, or the daemon's."),
	    h("div.grid3", inputs.map(([, el]) => el))),
	value: () => Object.fromEntries(inputs.map(([k, el]) =>
	    [k, el.querySelector("input").value.trim()])
	    .filter(([, v]) => v !== "").map(([k, v]) =>
	    [k, /^\d+$/.test(v) ? Number(v) : v])) };
}

export function howFields(s) {
	const sandbox = select([["", "as configured"],
	    ["namespaces", "namespaces"], ["tmpfs", "own file system"],
	    ["none", "none"]], "");
	const network = select([["", "as configured"], ["shared", "shared"],
	    ["none", "none"]], "");
	const tty = check("On a terminal", s.tty === true);
	const debug = check("Stop before the first instruction", false,
	    "and wait for gdb");

	return { el: h("div.how-fields", h("div.grid2",
	    field("Sandbox", sandbox), field("Network", network)),
	    !s.command && tty.el, debug.el),
	value: () => ({
		...(sandbox.value && { sandbox: sandbox.value }),
		...(network.value && { network: network.value }),
		...(tty.input.checked && !s.command && { tty: true }),
		...(debug.input.checked && { debug: true }),
	}) };
}

async function applyEnv(s, now) {
	const was = s.env ?? {};

	for (const k of Object.keys(was))
		if (!(k in now))
			await del(ref(s.id, "/env/" + encodeURIComponent(k)));
	for (const [k, v] of Object.entries(now))
		if (was[k] !== v)
			await put(ref(s.id, "/env/" + encodeURIComponent(k)),
			    { value: v });
}

// Arguments, environment and limits, put to the session where they differ.
export function settingsFields(s) {
	const args = h("input", { value: s.args ?? "", spellcheck: "false",
	    autocapitalize: "off", autofocus: true });
	const env = envFields(s.env);
	const limits = limitFields();
	const line = keeper(args, s.args ?? "");

	return { el: [!s.command && field("Arguments", args,
	    "As in a shell: quotes and backslashes, nothing is expanded."),
	env.el, h("details", h("summary", "Limits"), limits.el)],
	apply: async () => {
		const argv = split(line());
		const lim = limits.value();

		if (!s.command && line() !== (s.args ?? ""))
			await put(ref(s.id, "/args"), { argv });
		await applyEnv(s, env.value());
		if (Object.keys(lim).length > 0)
			await put(ref(s.id, "/limits"), lim);
	} };
}

export function startDialog(s) {
	const set = settingsFields(s);
	const how = howFields(s);

	return formDialog(`Start ${title(s)}`, [set.el, how.el], "Start",
	    async (close) => {
		await set.apply();
		const after = await start(s, how.value());

		close(true);
		if (after?.tty)
			go("/terminal/" + s.id);
	    });
}

// -- smaller ones -------------------------------------------------------------

export function renameDialog(s) {
	const input = h("input", { value: s.name ?? "", maxlength: "64",
	    spellcheck: "false", autofocus: true });

	return formDialog("Name", field("Name", input, "Letters, digits, '.'," +
	    " '_' and '-'. Empty: no name. It can be used in place of the id."),
	    "Rename", async (close) => {
		await rename(s, input.value.trim());
		close(true);
	    });
}

const SIGNALS = ["HUP", "INT", "QUIT", "USR1", "USR2", "TERM", "STOP", "CONT",
	"KILL", "WINCH"];

export function signalDialog(s) {
	const which = select(SIGNALS.map((n) => [n, "SIG" + n]), "INT");

	return formDialog("Send a signal", field("Signal", which), "Send",
	    async (close) => {
		await post(ref(s.id, "/signal"), { signal: which.value });
		close(true);
	    });
}

// gdb's own words for getting at a program that a server holds.
export function gdbCommand(s) {
	const host = location.hostname.replace(/^\[|\]$/g, "");
	const at = host.includes(":") ? `[${host}]` : host;

	return s.debug_port ? `gdb -ex 'target remote ${at}:${s.debug_port}'` :
	    `gdb -ex 'target remote | debuglanternctl gdb-pipe ${s.id}'`;
}

export async function debug(s) {
	const after = await post(ref(s.id, "/debug"));

	await dialog("gdbserver waits", () => h("div.fields",
	    h("p", "On this network, within a minute:"),
	    copyLine(gdbCommand({ ...s, ...after }), "Copy the command"),
	    h("p", "When gdb detaches, the program goes on running.")));
}

// Rows of a session's menu; what is not possible now is not there.
export function rows(s) {
	const run = (f) => () => f(s)?.catch?.(complain);
	const use = mayUse(s), active = isActive(s);

	return [
		s.tty && { label: "Terminal", name: "terminal",
		    run: () => go("/terminal/" + s.id) },
		use && !active && { label: "Start", name: "play",
		    run: run(start) },
		use && !active && { label: "Start with …", name: "edit",
		    run: run(startDialog) },
		use && active && { label: "Stop", name: "stop",
		    run: run(stop) },
		use && active && { label: "Kill", name: "kill",
		    run: run(kill), danger: true },
		use && active && { label: "Send a signal …", name: "warn",
		    run: run(signalDialog) },
		use && s.state === "RUNNING" && { label: "Debug with gdb …",
		    name: "bug", run: run(debug) },
		use && { label: "Name …", name: "edit",
		    run: run(renameDialog) },
		mayOwn(s) && { label: "Delete …", name: "trash", danger: true,
		    run: () => removeAsking([s]) },
	];
}
