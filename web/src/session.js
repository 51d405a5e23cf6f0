// SPDX-License-Identifier: ISC
// One session from all sides: output, state, how it runs, who may see it.
import * as act from "./actions.js";
import { del, get, put, ref, sendOctets } from "./api.js";
import { consolePanel } from "./console.js";
import { button, h, icon, iconButton, renew, replace, select } from "./dom.js";
import * as format from "./format.js";
import { go } from "./router.js";
import { lampEl } from "./sessions.js";
import { linkFields } from "./share.js";
import { percent, spark } from "./spark.js";
import { know, link, sessions, usage, watch } from "./store.js";
import { busy, complain, copyLine, isTyping, menu } from "./ui.js";

const encoder = new TextEncoder();

function card(title, ...children) {
	return h("section.card", h("h2", title), children);
}

function facts(rows) {
	return h("dl.facts", rows.filter(([, v]) => v !== null &&
	    v !== undefined && v !== false && v !== "").map(([k, v]) =>
	    [h("dt", k), h("dd", v)]));
}

// -- the head -------------------------------------------------------------------

function headOf(s) {
	const end = format.isActive(s) ? null : format.ending(s);

	return [h("p.crumb", h("a", { href: "/" }, icon("left"), "Sessions")),
	    h("div.heading", h("h1", { tabindex: "-1" }, format.title(s)),
	    h("span.pill", { data: { lamp: format.lamp(s) } }, lampEl(s),
	    end ? end.words : format.stateWords(s)),
	    h("span.gap"), buttons(s))];
}

function buttons(s) {
	const use = act.mayUse(s), active = format.isActive(s);
	const run = (f) => (e) => busy(e.currentTarget, () => f(s));

	return h("div.actions",
	    s.tty && active && button("Terminal", () => go("/terminal/" +
		s.id), { name: "terminal", kind: ".primary" }),
	    use && !active && button("Start", run(act.start),
		{ name: "play", kind: ".primary" }),
	    use && !active && button("Start with …", run(act.startDialog),
		{ name: "edit" }),
	    use && active && button("Stop", run(act.stop), { name: "stop" }),
	    use && active && button("Kill", run(act.kill),
		{ name: "kill", kind: ".danger" }),
	    iconButton("dots", "More", (e) => menu(e.currentTarget,
		format.title(s), act.rows(s))));
}

// -- cards ------------------------------------------------------------------------

const SANDBOXES = {
	none: "none: it may do what its owner may",
	namespaces: "namespaces: its own processes, users, mounts; the " +
	    "host's files",
	tmpfs: "a file system of its own in memory",
};

function stateCard(s, u) {
	const end = format.ending(s), active = format.isActive(s);
	const ran = s.started_at && (active ? format.now() :
	    Date.parse(s.exited_at ?? s.started_at)) -
	    Date.parse(s.started_at);
	const sp = spark();

	sp.draw(u?.history ?? []);
	return [active ? null : end && h("p.ending" + (end.bad ? ".bad" : ""),
	    h("b", end.words), end.detail && ` – ${end.detail}`),
	facts([
		["CPU", active && u && h("span.cpu", sp.el,
		    percent(u.cpu) || "…")],
		["Memory", active && u && format.bytes(u.memory)],
		["PID", s.pid],
		["Started", s.started_at && format.when(s.started_at)],
		["Ended", !active && s.exited_at && format.when(s.exited_at)],
		["Ran for", s.started_at && format.span(ran)],
		["Owner", s.owner],
		["Id", h("code", s.id)],
	])];
}

function sandboxText(s) {
	const kind = s.sandbox?.kind ?? s.sandbox;

	return typeof kind === "string" ? SANDBOXES[kind] ?? kind : null;
}

function limitsText(limits) {
	const rows = Object.entries(limits ?? {}).filter(([, v]) =>
	    v !== null && v !== undefined);

	return rows.map(([k, v]) => `${k} ${v}`).join(", ");
}

// What users wrote may be long, and is read to its end by scrolling.
function words(s) {
	const long = s.length > 400;

	return h("code", { class: long ? "long" : null,
	    tabindex: long ? "0" : null }, format.plain(s));
}

function howCard(s) {
	const env = Object.entries(s.env ?? {});

	return [
		facts([
			[
				"Command",
				s.command && words(format.quote(s.command))
			],
			[ "Program", s.bundle && words(s.exec_path) ],
			[ "Arguments", s.args && words(s.args) ],
			[ "Size", !s.command && format.bytes(s.size) ],
			[
				"Terminal",
				s.tty &&
				    (s.cols ? `${s.cols} × ${s.rows}` : "yes")
			],
			[ "Sandbox", sandboxText(s) ],
			[ "Network", s.network ],
			[ "Limits", limitsText(s.limits) ],
		]),
		env.length > 0 &&
		    h("dl.facts.env",
			env.map(
			    ([ k, v ]) => [h("dt", h("code", k)),
				h("dd", v === null ? "(only its owner sees " +
							 "the value)"
						   : words(v))]))
	];
}

function debugCard(s) {
	if (!act.mayUse(s) || !format.isActive(s))
		return null;
	if (s.state === "DEBUGGING" && s.debug_port)
		return card("Debugger", h("p", "gdbserver waits, or has its " +
		    "client already:"), copyLine(act.gdbCommand(s),
		    "Copy the command"));
	return card("Debugger", h("p", "On a machine with debuglanternctl:"),
	    copyLine(act.gdbCommand({ ...s, debug_port: null }),
	    "Copy the command"), s.state === "RUNNING" &&
	    button("Open a port for gdb", (e) =>
	    busy(e.currentTarget, () => act.debug(s)),
	    { name: "bug", kind: ".small" }));
}

// -- who sees it --------------------------------------------------------------

function shareRow(s, x) {
	return h("li", h("b", x.user), x.access === "rw" ?
	    " may use it" : " may look",
	    iconButton("close", `Stop sharing with ${x.user}`, (e) =>
	    busy(e.currentTarget, () => del(ref(s.id, "/shares/" +
	    encodeURIComponent(x.user))))));
}

// The list is made anew as it changes, what is beside it is not: who types is
// not disturbed, and a link that is shown once stays.
function shareCard(s, list) {
	if (!act.mayOwn(s))
		return null;
	const user = h("input", { required: true, spellcheck: "false",
	    autocapitalize: "off", placeholder: "user" });
	const how = select([["ro", "may look"], ["rw", "may use it"]], "ro");
	const go = button("Share", undefined, { kind: ".small" });

	user.setAttribute("aria-label", "user to share with");
	how.setAttribute("aria-label", "access");
	go.type = "submit";
	return card("Shared with", list, h("form.inline",
	    { onsubmit: (e) => {
		e.preventDefault();
		busy(go, async () => {
			const name = user.value.trim();

			await put(ref(s.id, "/shares/" +
			    encodeURIComponent(name)), { access: how.value });
			if (user.value.trim() === name)
				user.value = "";
		});
	} }, user, how, go), h("p.hint", "Who may use it acts " +
	    "as its owner, on everything that the owner may."),
	    s.tty && act.isOwner(s) && h("details",
	    h("summary", "By a link"), linkFields(s)));
}

function shareDrawer(el) {
	const list = h("ul.plain");
	let shown = null;

	return (s) => {
		const what = [act.mayOwn(s), s.tty, act.isOwner(s)].join();
		const had = list.contains(document.activeElement);

		replace(list, s.shared?.map((x) => shareRow(s, x)));
		list.hidden = !s.shared;
		if (what !== shown)
			replace(el, shareCard(s, list));
		shown = what;
		// the last row has gone
		if (had && !list.contains(document.activeElement))
			el.querySelector("input")?.focus();
	};
}

// -- what happened ------------------------------------------------------------

async function fillHistory(el, id) {
	const all = await get("/activity");

	// the id is on every line, and each is of this session
	replace(el, all.filter((x) => x.message.includes(id)).reverse()
	    .map((x) => h("li", h("time", { datetime: x.time },
	    format.when(x.time)), " ", x.message.replaceAll(id, "")
	    .replace(/\s+/g, " ").replace(/ :/, ":"))));
	if (el.childElementCount === 0)
		el.append(h("li", "Nothing that the daemon remembers."));
}

// -- input --------------------------------------------------------------------

function inputBar(id) {
	const line = h("input", { spellcheck: "false", autocapitalize: "off",
	    autocomplete: "off", placeholder: "a line of input",
	    "aria-label": "a line of input" });
	const send = button("Send", undefined, { kind: ".small" });

	// one after the other, however fast they are typed
	let last = Promise.resolve();
	const say = (words, query = "") => {
		const said = last.then(() => sendOctets(ref(id, "/stdin" +
		    query), encoder.encode(words)));

		last = said.catch(() => {});
		return said;
	};

	send.type = "submit";
	return h("form.stdin", { onsubmit: (e) => {
		const words = line.value;

		e.preventDefault();
		line.value = "";
		line.focus();
		say(words + "\n").catch((err) => {
			complain(err);
			line.value ||= words;
		});
	} }, h("span.prompt", { "aria-hidden": "true" }, "›"), line, send,
	    button("End", (e) => busy(e.currentTarget, () => say("",
	    "?eof=1")), { kind: ".small.quiet",
	    title: "end of input, as Ctrl-D" }));
}

// -- all of it -----------------------------------------------------------------

function layout(id) {
	const parts = { head: h("div.session-head"), input: h("div"),
	    state: h("div"), how: h("div"), debug: h("div"), share: h("div"),
	    history: h("ol.history", { tabindex: "0",
	    "aria-label": "history" }), out: consolePanel(id) };
	const el = h("div.session", parts.head, h("div.columns",
	    h("div.left", parts.out.el, parts.input), h("aside.right",
	    { "aria-label": "details" }, card("State", parts.state),
	    card("How it runs", parts.how), parts.debug, parts.share,
	    card("History", parts.history))));

	return { el, parts };
}

function drawer(parts) {
	const drawShare = shareDrawer(parts.share);
	let last = null, run;

	return (s) => {
		if (s !== last) {
			replace(parts.head, headOf(s));
			renew(parts.how, howCard(s));
			replace(parts.debug, debugCard(s));
			drawShare(s);
			parts.input.hidden = s.tty || !format.isActive(s) ||
			    !act.mayUse(s);
			document.title =
			    `${format.title(s)} · debuglantern`;
			if (run !== s.started_at)
				parts.out.restart();
			run = s.started_at;
			last = s;
		}
		renew(parts.state, stateCard(s, usage.get(s.id)));
	};
}

function missing(root, id) {
	replace(root, h("div.empty", h("h1", { tabindex: "-1" },
	    "There is no such session"), h("p", "It was deleted, or it is " +
	    "not shared with you."), h("code", id),
	    h("a.button.primary", { href: "/" }, "To the sessions")));
}

export function sessionView(root, { id }) {
	const { el, parts } = layout(id);
	const draw = drawer(parts);
	let state = null, known = false, told = false, left = false;

	function tell() {
		told = false;
		fillHistory(parts.history, id).then(() => {
			told = true;
		}, complain);
	}

	function learn() {
		know(id).then((is) => {
			known = true;
			if (left || is === id)
				return;
			if (is === null)
				update(id);
			else
				go("/session/" + is, { replace: true });
		}, complain);
	}

	function update(which) {
		const s = sessions.get(id);
		// what there was no way to ask is asked when there is one
		const again = which === null && link.up;

		if (which !== null && which !== id)
			return;
		if (!s && !known) {
			if (again)
				learn();
			return;
		}
		if (!s) {
			parts.out.end();
			missing(root, id);
			return;
		}
		draw(s);
		if (s.state !== state || again && !told) {
			state = s.state;
			tell();
		}
	}

	const onKey = (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e) ||
		    document.querySelector("dialog[open], .menu"))
			return;
		const f = { "/": () => parts.out.find.input.focus(),
		    f: parts.out.toggle, Escape: () => go("/") }[e.key];

		if (f) {
			e.preventDefault();
			f();
		}
	};
	const stop = watch(update);
	const clock = setInterval(() => sessions.has(id) && update(id), 1000);

	root.append(el);
	replace(parts.input, inputBar(id));
	document.addEventListener("keydown", onKey);
	update(id);
	learn();
	return () => {
		left = true;
		clearInterval(clock);
		document.removeEventListener("keydown", onKey);
		parts.out.end();
		stop();
	};
}
