// SPDX-License-Identifier: ISC
// The sessions of the host: a table that lives.
import * as act from "./actions.js";
import { me } from "./api.js";
import { button, h, icon, iconButton, replace, text } from "./dom.js";
import * as format from "./format.js";
import { go } from "./router.js";
import { percent, spark } from "./spark.js";
import { sessions, usage, watch } from "./store.js";
import { busy, complain, isTyping, menu } from "./ui.js";
import { acceptDrops, chooseFiles, newCommand, newShell } from "./upload.js";

// How the list stands, also when one comes back to it.
const list = { filter: "", which: "all", sort: "age", up: false,
    chosen: new Set(), cursor: null };

const MORE_MAX = 300;	// characters of a command line in the table

const WHICH = [
	["all", "All", () => true],
	["active", "Running", format.isActive],
	["ended", "Not running", (s) => !format.isActive(s)],
];

const stamp = (s) => Date.parse(s.started_at ?? s.created_at ?? "") || 0;

// key, heading, value to sort by; numbers begin with the largest
const COLUMNS = [
	["name", "Session", (s) => format.title(s).toLowerCase()],
	["state", "State", (s) => "lit debug bad idle done".indexOf(
	    format.lamp(s))],
	["owner", "Owner", (s) => s.owner],
	["pid", "PID", (s) => -(s.pid ?? 0)],
	["cpu", "CPU", (s) => -(usage.get(s.id)?.cpu ?? -1)],
	["memory", "Memory", (s) => -(usage.get(s.id)?.memory ?? -1)],
	["size", "Size", (s) => -s.size],
	["age", "Age", (s) => -stamp(s)],
];

const valueOf = Object.fromEntries(COLUMNS.map(([k, , f]) => [k, f]));

function matches(s) {
	const [, , is] = WHICH.find(([k]) => k === list.which);
	const hay = [s.name, s.id, s.owner, s.state, s.exec_path, s.args,
	    s.signal, s.pid, ...(s.command ?? [])].join(" ").toLowerCase();

	return is(s) && list.filter.toLowerCase().split(/\s+/)
	    .every((w) => hay.includes(w));
}

function compare(a, b) {
	const va = valueOf[list.sort](a), vb = valueOf[list.sort](b);
	const d = va < vb ? -1 : va > vb ? 1 : a.id < b.id ? -1 : 1;

	return list.up ? -d : d;
}

// -- one row ------------------------------------------------------------------

export function lampEl(s) {
	const el = h("span.lamp", { "aria-hidden": "true" });

	el.dataset.lamp = format.lamp(s);
	return el;
}

function stateCell(td, s) {
	const end = format.isActive(s) ? null : format.ending(s);

	replace(td, h("span.lampline", lampEl(s), h("span",
	    end ? end.words : format.stateWords(s))),
	    end?.detail && h("small", end.detail),
	    s.state === "DEBUGGING" && s.debug_port &&
	    h("small", `port ${s.debug_port}`));
}

function nameCell(td, s) {
	const kind = s.command ? "terminal" : s.bundle ? "folder" : "file";
	const more = [s.name && s.command?.join(" "),
	    s.name && s.exec_path, s.args].filter(Boolean).join(" ");

	replace(td, h("a.name", { href: (s.tty && format.isActive(s) ?
	    "/terminal/" : "/session/") + s.id }, icon(s.tty ? "terminal" :
	    kind), h("span", format.title(s))),
	    h("small.sub", h("code", format.short(s.id)), " ",
		format.brief(format.plain(more), MORE_MAX)),
	    s.shared && h("span.tag", "shared"));
}

function actionsCell(td, s) {
	const main = !act.mayUse(s) ? null : format.isActive(s) ?
	    ["stop", "Stop", act.stop] : ["play", "Start", act.start];
	const name = format.title(s);

	replace(td,
	    s.tty && format.isActive(s) && iconButton("terminal",
		`Open the terminal of ${name}`,
		() => go("/terminal/" + s.id)),
	    main && iconButton(main[0], `${main[1]} ${name}`,
		(e) => busy(e.currentTarget, () => main[2](s))),
	    iconButton("dots", `More for ${name}`,
		(e) => menu(e.currentTarget, name, act.rows(s))));
}

function makeRow(id, onChoose) {
	const box = h("input", { type: "checkbox",
	    onchange: () => onChoose(id, box.checked) });
	const c = Object.fromEntries(COLUMNS.map(([k, label]) =>
	    [k, h("td." + k, { data: { label } })]));
	const sp = spark(), cpu = h("span.num"), acts = h("td.acts");
	let last = null;

	c.cpu.append(sp.el, cpu);
	return { el: h("tr", { data: { id } }, h("td.box", box),
	    Object.values(c), acts), box,
	draw(s) {
		const u = usage.get(id);

		// the object is a new one when anything in it is
		if (s !== last) {
			nameCell(c.name, s);
			stateCell(c.state, s);
			actionsCell(acts, s);
			text(c.owner, s.owner);
			text(c.pid, s.pid === null ? "" : String(s.pid));
			text(c.size, s.command ? "" : format.bytes(s.size));
			box.setAttribute("aria-label",
			    "select " + format.title(s));
			this.el.dataset.lamp = format.lamp(s);
			last = s;
		}
		text(cpu, percent(u?.cpu));
		text(c.memory, format.bytes(u?.memory));
		sp.draw(u?.history ?? []);
		this.age(s);
	},
	age(s) {
		text(c.age, format.age(s.started_at ?? s.created_at));
	} };
}

// -- the table ----------------------------------------------------------------

function headCells(onSort) {
	return COLUMNS.map(([k, label]) => {
		const th = h("th." + k, { scope: "col" },
		    h("button.sort", { type: "button", onclick: () => {
			list.up = list.sort === k && !list.up;
			list.sort = k;
			onSort();
		    } }, label));

		th.dataset.key = k;
		return th;
	});
}

function markSort(thead) {
	for (const th of thead.querySelectorAll("th[data-key]")) {
		if (th.dataset.key === list.sort)
			th.setAttribute("aria-sort",
			    list.up ? "descending" : "ascending");
		else
			th.removeAttribute("aria-sort");
	}
}

function table(onChange) {
	const body = h("tbody");
	const all = h("input", { type: "checkbox",
	    "aria-label": "select all that are shown" });
	const thead = h("thead", h("tr", h("th.box", all),
	    headCells(() => drawAll()), h("th.acts", h("span.offscreen",
	    "Actions"))));
	const rows = new Map();
	const choose = (id, on) => {
		list.chosen[on ? "add" : "delete"](id);
		onChange(shown());
	};
	const shown = () => [...sessions.values()].filter(matches)
	    .sort(compare);

	all.addEventListener("change", () => {
		for (const s of shown())
			list.chosen[all.checked ? "add" : "delete"](s.id);
		drawAll();
	});

	function rowFor(s) {
		let r = rows.get(s.id);

		if (r === undefined)
			rows.set(s.id, r = makeRow(s.id, choose));
		r.draw(s);
		r.box.checked = list.chosen.has(s.id);
		r.el.classList.toggle("cursor", s.id === list.cursor);
		return r.el;
	}

	function drawAll() {
		const want = shown();

		// some were chosen before, and have gone since
		for (const ids of [rows, list.chosen])
			for (const id of ids.keys())
				if (!sessions.has(id))
					ids.delete(id);
		const els = want.map(rowFor);

		// moving what stands right already would lose the focus
		if (els.length !== body.children.length ||
		    els.some((el, i) => el !== body.children[i]))
			reorder(body, els);
		all.checked = want.length > 0 &&
		    want.every((s) => list.chosen.has(s.id));
		markSort(thead);
		onChange(want);
	}

	return { el: h("table.sessions", h("caption.offscreen", "Sessions"),
	    thead, body), drawAll, rows, shown,
	one(id) {
		// a busy order would never rest
		const s = sessions.get(id), r = rows.get(id);

		if (s && r && matches(s) && usage.has(id))
			r.draw(s);
		else
			drawAll();
	} };
}

function reorder(body, els) {
	const had = document.activeElement;

	body.replaceChildren(...els);
	if (had && body.contains(had))
		had.focus({ preventScroll: true });
}

// -- around it ------------------------------------------------------------------

function summary() {
	const parts = {};
	const el = h("dl.summary", [["running", "running"], ["cpu", "CPU"],
	    ["memory", "memory"], ["failed", "failed"]].map(([k, label]) =>
	    h("div." + k, h("dt", label), parts[k] = h("dd", "0"))));

	return { el, draw() {
		const all = [...sessions.values()], used = [...usage.values()];

		text(parts.running, String(all.filter(format.isActive).length));
		text(parts.cpu, used.length === 0 ? "" :
		    percent(used.reduce((n, u) => n + (u.cpu ?? 0), 0)));
		text(parts.memory, used.length === 0 ? "" :
		    format.bytes(used.reduce((n, u) =>
		    n + (u.memory ?? 0), 0)));
		text(parts.failed, String(all.filter((s) =>
		    format.lamp(s) === "bad").length));
	} };
}

function bulkBar(redraw) {
	const said = h("b");
	const picked = () => [...list.chosen].map((id) => sessions.get(id))
	    .filter(Boolean);
	const clear = () => {
		list.chosen.clear();
		redraw();
	};
	const one = (name, label, pick, f, done) => button(label, (e) =>
	    busy(e.currentTarget, () => act.each(picked().filter(pick), f,
	    done)), { name, kind: ".small" });
	const idle = (s) => !format.isActive(s);
	const el = h("div.bulk", { role: "region",
	    "aria-label": "selected sessions", hidden: true }, said,
	    one("play", "Start", idle, act.start, "Started"),
	    one("stop", "Stop", format.isActive, act.stop, "Stopped"),
	    one("kill", "Kill", format.isActive, act.kill, "Killed"),
	    button("Delete", async () => {
		if (await act.removeAsking(picked()))
			clear();
	    }, { name: "trash", kind: ".small.danger" }),
	    button("Clear", clear, { kind: ".small.quiet" }));

	return { el, draw() {
		el.hidden = list.chosen.size === 0;
		text(said, format.count(list.chosen.size, "selected",
		    "selected"));
	} };
}

function toolbar(redraw) {
	const input = h("input", { type: "search", value: list.filter,
	    placeholder: "Filter  /", "aria-label": "filter the sessions",
	    spellcheck: "false", oninput: () => {
		    list.filter = input.value;
		    redraw();
	    } });
	const which = h("div.segments", { role: "group",
	    "aria-label": "which sessions" }, WHICH.map(([k, label]) =>
	    h("button", { type: "button", "aria-pressed":
		String(list.which === k), onclick: (e) => {
		    list.which = k;
		    for (const b of which.children)
			    b.setAttribute("aria-pressed",
				String(b === e.currentTarget));
		    redraw();
	    } }, label)));
	const shell = button("Terminal", (e) => busy(e.currentTarget,
	    newShell), { name: "terminal", kind: ".primary",
	    title: "a shell on this host" });

	return { input, el: h("div.toolbar", input, which, !me.read_only &&
	    h("div.make",
		button("Upload", chooseFiles, { name: "upload",
		    title: "an ELF program or a bundle; dropping it does too" }),
		button("Command …", () => newCommand().catch(complain),
		    { name: "plus" }),
		shell)) };
}

function empty() {
	return h("div.empty", h("img", { src: "/icon.svg", alt: "",
	    width: "56", height: "56" }),
	    h("p.big", "No sessions yet"),
	    me.read_only ? h("p", "What others share with you is shown here.") :
	    h("p", "Drop an ELF program or a bundle anywhere on this page, ",
		"or open a terminal. From a shell: "),
	    !me.read_only && h("code", "debuglanternctl run ./program"));
}

// -- keys ---------------------------------------------------------------------

function keys(t, tools) {
	// what a filter hides is nobody's to start or stop
	const at = () => t.shown().find((s) => s.id === list.cursor);
	const move = (d) => {
		const want = t.shown();
		const i = want.findIndex((s) => s.id === list.cursor);
		const to = want[Math.max(0, Math.min(want.length - 1,
		    i === -1 ? 0 : i + d))];

		if (!to)
			return;
		list.cursor = to.id;
		t.drawAll();
		const el = t.rows.get(to.id).el;

		el.scrollIntoView({ block: "nearest" });
		el.querySelector("a.name").focus({ preventScroll: true });
	};
	const toggle = (s) => act.mayUse(s) && (format.isActive(s) ?
	    act.stop(s) : act.start(s)).catch(complain);
	const map = {
		"/": () => tools.input.focus(),
		j: () => move(1),
		k: () => move(-1),
		ArrowDown: () => move(1),
		ArrowUp: () => move(-1),
		x: () => at() && (list.chosen[list.chosen.has(list.cursor) ?
		    "delete" : "add"](list.cursor), t.drawAll()),
		s: () => at() && toggle(at()),
		t: () => at()?.tty && go("/terminal/" + list.cursor),
		u: () => !me.read_only && chooseFiles(),
		n: () => !me.read_only && newCommand().catch(complain),
	};

	return (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e) ||
		    document.querySelector("dialog[open], .menu"))
			return;
		const f = map[e.key];

		if (f) {
			e.preventDefault();
			f();
		}
	};
}

export function sessionsView(root) {
	const sum = summary();
	const none = h("div");
	const overlay = h("div.drop", { hidden: true },
	    h("div", icon("upload"), h("p.big", "Drop to upload"),
	    h("p", "an ELF program, or a bundle (tar, zip) of one")));
	const bulk = bulkBar(() => t.drawAll());
	const t = table((shown) => {
		bulk.draw();
		sum.draw();
		t.el.hidden = shown.length === 0;
		drawNone(shown.length > 0 ? "some" : sessions.size === 0 ?
		    "empty" : "filtered");
	});
	const instead = { some: () => null, empty, filtered: () =>
	    h("p.nothing", "No session is like that. ",
	    button("Show all", () => {
		list.filter = "";
		list.which = "all";
		go("/", { replace: true });
	    }, { kind: ".small" })) };
	const drawNone = (why) => {
		if (none.dataset.why !== why)
			replace(none, instead[why]());
		none.dataset.why = why;
	};
	const tools = toolbar(() => t.drawAll());
	const onKey = keys(t, tools);
	const stops = [watch((id) => (id === null ? t.drawAll() : t.one(id))),
	    acceptDrops(overlay)];
	const clock = setInterval(() => {
		for (const [id, r] of t.rows)
			if (sessions.has(id))
				r.age(sessions.get(id));
		sum.draw();
	}, 1000);

	root.append(h("div.heading", h("h1", { tabindex: "-1" }, "Sessions"),
	    sum.el), tools.el, bulk.el, h("div.tablebox", t.el), none, overlay);
	document.addEventListener("keydown", onKey);
	document.title = "Sessions · debuglantern";
	t.drawAll();
	return () => {
		clearInterval(clock);
		document.removeEventListener("keydown", onKey);
		stops.forEach((f) => f());
	};
}
