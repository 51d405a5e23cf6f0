// SPDX-License-Identifier: ISC
// A terminal that may be shared: its screen, who else is there, its keys.
import * as act from "./actions.js";
import { me } from "./api.js";
import { button, h, icon, iconButton, replace, text } from "./dom.js";
import * as format from "./format.js";
import { isDark, onLook } from "./look.js";
import { clean, guard } from "./paste.js";
import { go } from "./router.js";
import { makeScreen } from "./screen.js";
import { shareDialog } from "./share.js";
import { sessions, watch } from "./store.js";
import { busy, complain, copy, menu, notice } from "./ui.js";
import { Wire } from "./wire.js";

const TITLE_MAX = 80;
const HURRIED_MS = 50;

const storeOf = (id) => "key /terminal/" + id;

// The key of a link leaves the address bar, but outlives a reload.
function keyOf(id) {
	const name = storeOf(id);
	const hash = location.hash.slice(1);

	if (/^dl[sv]_/.test(hash))
		sessionStorage.setItem(name, hash);
	if (hash !== "")
		history.replaceState(null, "", location.pathname);
	return /^dl[ksv]_/.test(hash) ? hash :
	    sessionStorage.getItem(name);
}

// -- people -------------------------------------------------------------------

function personChip(p) {
	const role = p.role === "ro" ? "looks" : p.controller ?
	    "types" : "may type";

	return h("li", { class: p.controller ? "controller" : null,
	    title: `${p.user} ${role}` },
	    icon(p.role === "ro" ? "eye" : "edit"),
	    h("span", p.you ? "you" : p.user),
	    h("span.offscreen", " " + role));
}

function drawPeople(el, list) {
	replace(el, list.slice(0, 8).map(personChip));
}

// -- keys for those who have none ------------------------------------------------

const KEYS = [
	["Esc", "\x1b", "Escape"], ["Tab", "\t", "Tab"],
	["Ctrl", null, "Control for the next key"],
	["Alt", null, "Alt for the next key"],
	["←", "D", "Left"], ["↑", "A", "Up"], ["↓", "B", "Down"],
	["→", "C", "Right"], ["^C", "\x03", "Control C"],
	["|", "|", "Pipe"], ["/", "/", "Slash"], ["-", "-", "Dash"],
	["~", "~", "Tilde"], ["PgUp", "\x1b[5~", "Page up"],
	["PgDn", "\x1b[6~", "Page down"],
];

function keyBar(term, type, held) {
	const bar = h("div.keybar", { role: "toolbar",
	    "aria-label": "keys" });

	for (const [label, codes, name] of KEYS) {
		const b = h("button", { type: "button", title: name,
		    "aria-label": `${label} ${name}`,
		    onclick: () => press() }, label);
		const press = () => {
			if (codes === null) {
				const k = label.toLowerCase();

				held[k] = !held[k];
				b.setAttribute("aria-pressed",
				    String(held[k]));
			} else if (/^[A-D]$/.test(codes))
				type((term.modes.applicationCursorKeysMode ?
				    "\x1bO" : "\x1b[") + codes);
			else
				type(codes);
			term.focus();
		};

		// the screen's keyboard stays where it is
		b.addEventListener("pointerdown", (e) => e.preventDefault());
		if (codes === null)
			b.setAttribute("aria-pressed", "false");
		bar.append(b);
	}
	return { el: bar, release: () => {
		held.ctrl = held.alt = false;
		for (const b of bar.querySelectorAll("[aria-pressed=true]"))
			b.setAttribute("aria-pressed", "false");
	} };
}

// A key with the held Control or Alt of the bar.
function withHeld(data, held) {
	let out = data;

	if (held.ctrl && /^[@-_a-z ]$/.test(data))
		out = String.fromCharCode(data.toUpperCase()
		    .charCodeAt(0) & 0x1f);
	return held.alt ? "\x1b" + out : out;
}

// -- search -------------------------------------------------------------------

function searchBar(screen) {
	const input = h("input", { type: "search", spellcheck: "false",
	    placeholder: "Search", "aria-label": "search the terminal" });
	// behind text in the colours of the light that there is
	const options = () => ({ decorations: {
		matchBackground: isDark() ? "#6b5200" : "#f8e3ae",
		matchOverviewRuler: "#f2b84b",
		activeMatchBackground: isDark() ? "#b57b00" : "#f2b84b",
		activeMatchColorOverviewRuler: "#f2b84b",
	} });
	const said = h("span.said", { role: "status" });
	const earlier = () => screen.search.findPrevious(input.value,
	    options());
	const later = () => screen.search.findNext(input.value, options());
	const el = h("div.finder", { hidden: true }, input, said,
	    iconButton("up", "Earlier match", earlier),
	    iconButton("down", "Later match", later),
	    iconButton("close", "Close the search", () => toggle(false)));

	function toggle(on = el.hidden) {
		el.hidden = !on;
		if (on) {
			input.focus();
			input.select();
		} else {
			screen.search.clearDecorations();
			screen.term.focus();
		}
	}

	screen.search.onDidChangeResults(({ resultIndex: i, resultCount: n }) =>
	    text(said, n === 0 ? "no match" : `${i + 1} of ${n}`));
	input.addEventListener("input", () => screen.search.findPrevious(
	    input.value, { ...options(), incremental: true }));
	input.addEventListener("keydown", (e) => {
		if (e.key === "Enter")
			(e.shiftKey ? later : earlier)();
		if (e.key === "Escape")
			toggle(false);
	});
	return { el, toggle };
}

// -- the view -----------------------------------------------------------------

function parts(id) {
	return {
		name: h("h1", { tabindex: "-1" }, format.short(id)),
		heading: h("span.title"),
		people: h("ul.people", { "aria-label": "who is attached" }),
		size: h("button.quiet.small.size", { type: "button" }),
		tag: h("span.tag", { hidden: true }, "read-only"),
		banner: h("div.banner", { role: "status", hidden: true }),
		screen: h("div.screen"),
		acts: h("div.actions"),
	};
}

class View {
	constructor(root, id) {
		this.id = id;
		this.key = keyOf(id);
		this.p = parts(id);
		this.held = { ctrl: false, alt: false };
		this.replaying = true;
		this.controller = true;
		this.writer = true;
		this.shown = null;	// the size that the program has
		this.run = null;	// when it was started, if that is known
		this.build(root);
	}

	build(root) {
		const { p } = this;
		const box = h("div.screenbox", p.screen);

		this.root = h("div.termview", h("div.termbar",
		    h("a.button.quiet.square", { href: me.user === null ?
			"/login" : "/session/" + this.id, "aria-label":
			"To the session" }, icon("left")), p.name, p.heading,
		    p.tag, h("span.gap"), p.people, p.size, p.acts),
		    p.banner, box);
		root.append(this.root);
		this.screen = makeScreen(p.screen, {
			mayAnswer: () => this.writer && this.controller &&
			    !this.replaying,
			onDraw: (how) => {
				this.root.dataset.drawn = how;
			},
		});
		this.term = this.screen.term;
		// for those who look from a script
		p.screen.terminal = this.term;
		this.term.textarea.setAttribute("aria-label", "terminal input");
		this.search = searchBar(this.screen);
		this.bar = keyBar(this.term, (d) => this.type(d), this.held);
		box.before(this.search.el);
		box.after(this.bar.el);
		this.box = box;
		this.listen();
		this.fillActions();
		const size = this.screen.propose() ?? { cols: 80, rows: 24 };

		this.wire = new Wire(this.id, this.key, size, this.handlers());
		this.term.focus();
	}

	// -- the program's side --

	handlers() {
		return {
			output: (bytes) => {
				this.sayMissed();
				this.write(bytes);
			},
			history: (preamble, bytes) => {
				this.replaying = true;
				if (preamble.length > 0) {
					this.term.reset();
					this.term.write(preamble);
				}
				this.sayMissed();
				this.write(bytes);
			},
			live: () => this.term.write("", () => {
				this.replaying = false;
				this.root.dataset.live = "yes";
			}),
			lost: (n) => {
				this.missed = n;
			},
			exit: (code, signal) => this.term.write("", () =>
			    this.exited(code, signal)),
			error: (code, words) => this.failed(code, words),
			size: (cols, rows) => this.sized(cols, rows),
			people: (list) => this.others(list),
			link: (state, why) => this.linked(state, why),
		};
	}

	write(bytes) {
		const upTo = this.wire.at;

		this.pending = (this.pending ?? 0) + 1;
		this.term.write(bytes, () => {
			this.pending--;
			this.wire.drawn(upTo, this.pending === 0);
		});
	}

	// Before what follows, and behind what clears the screen.
	sayMissed() {
		if (this.missed === undefined)
			return;
		this.term.write("\r\n\x1b[7m " +
		    `${format.bytes(this.missed)} were left out: this page or ` +
		    "its connection could not keep up \x1b[27m\r\n");
		this.missed = undefined;
	}

	exited(code, signal) {
		const s = sessions.get(this.id);
		// the session tells the name of the signal, soon
		const end = format.ending(s && !format.isActive(s) ? s :
		    code >= 0 ? { exit_code: code } :
		    { signal: `signal ${signal}` });

		this.over = [code, signal];
		delete this.root.dataset.live;
		this.root.dataset.exit = String(code);
		this.banner(["The program has ended: ", h("b", end.words),
		    end.detail ? ` – ${end.detail}. ` : ". "],
		    s && act.mayUse(s) && [button("Run it again", (e) =>
			busy(e.currentTarget, () => this.restart(s)),
			{ name: "play", kind: ".small" }),
		    button("Delete …", async () => {
			if (await act.removeAsking([s]))
				go("/");
		    }, { name: "trash", kind: ".small.quiet" })]);
	}

	async restart(s) {
		// else it would tell of the next run before that is asked for
		this.wire.rest();
		this.run = null;
		this.term.focus();
		await act.start(s, { tty: true, ...this.wire.size });
		this.nextRun();
	}

	// Offsets are those of one run: of another nothing is gone on with.
	nextRun() {
		this.term.reset();
		this.p.banner.hidden = true;
		this.over = null;
		delete this.root.dataset.exit;
		delete this.root.dataset.live;
		Object.assign(this.wire, { at: null, ended: false });
		this.wire.again();
	}

	failed(code, words) {
		this.problem = words || code;
		this.banner([h("b", this.problem)]);
	}

	others(list) {
		const mine = list.find((p) => p.you);

		drawPeople(this.p.people, list);
		this.writer = mine?.role !== "ro";
		this.controller = mine?.controller ?? false;
		this.p.tag.hidden = this.writer;
		this.term.options.disableStdin = !this.writer;
		this.bar.el.hidden = !this.writer;
	}

	linked(state, why) {
		this.root.dataset.link = state;
		if (state === "open" && this.broken) {
			this.broken = false;
			this.problem = null;
			this.p.banner.hidden = true;
		}
		if (state === "lost") {
			this.broken = true;
			this.banner([why ? why + " It is tried again. " :
			    "The connection is lost; it is being made " +
			    "again. The program goes on meanwhile. "],
			    button("Now", () => this.wire.hurry(),
			    { kind: ".small" }));
		}
		if (state === "over" && !this.wire.ended) {
			this.broken = true;
			this.banner([this.problem || why ||
			    "The daemon closed the terminal.", " "],
			    [button("Try again", () => this.wire.again(),
			    { kind: ".small" }), me.user !== null &&
			    button("To the sessions", () => go("/"),
			    { kind: ".small.quiet" })]);
		}
	}

	banner(words, buttons) {
		this.p.banner.hidden = false;
		replace(this.p.banner, h("span", words), buttons);
		this.fitted();
	}

	// -- the size --

	sized(cols, rows) {
		this.shown = { cols, rows };
		if (this.term.cols !== cols || this.term.rows !== rows)
			this.term.resize(cols, rows);
		this.drawSize();
	}

	drawSize() {
		const fit = this.screen.propose();
		const { cols, rows } = this.term;
		const other = fit !== null &&
		    (fit.cols !== cols || fit.rows !== rows);

		text(this.p.size, `${cols} × ${rows}`);
		this.p.size.title = other && this.writer ?
		    "another client's size; take this window's" :
		    "the size that the program sees";
		this.p.size.classList.toggle("other", other);
	}

	// Asks for the size of this window; the daemon says what it becomes.
	fitted() {
		clearTimeout(this.fitting);
		this.fitting = setTimeout(() => {
			const d = this.screen.propose();

			if (d === null)
				return;
			if (this.writer && (d.cols !== this.wire.size.cols ||
			    d.rows !== this.wire.size.rows))
				this.wire.resize(d.cols, d.rows);
			this.drawSize();
		}, HURRIED_MS);
	}

	// -- the user's side --

	type(data) {
		if (!this.writer || this.wire.ended)
			return;
		if (!this.wire.input(data))
			notice("Not sent: there is no connection.",
			    { bad: true });
	}

	async paste(raw) {
		const words = await guard(raw);

		if (words !== "")
			this.term.paste(words);
		this.term.focus();
	}

	onPaste(e) {
		e.preventDefault();
		e.stopPropagation();
		if (this.writer)
			this.paste(e.clipboardData.getData("text/plain"));
	}

	onKey(e) {
		if (e.type !== "keydown" || !e.ctrlKey || !e.shiftKey)
			return true;
		const f = {
			KeyC: () => copy(this.term.getSelection()),
			KeyF: () => this.search.toggle(),
			KeyV: () => navigator.clipboard?.readText()
			    .then((w) => this.paste(w), () => notice(
			    "The browser does not let the page paste.",
			    { bad: true, remedy: "Use its own paste command." })),
			KeyX: () => this.p.acts.querySelector("button").focus(),
		}[e.code];

		if (!f)
			return true;
		e.preventDefault();
		f();
		return false;
	}

	listen() {
		const { term } = this;
		const store = watch((id) => (id === null || id === this.id) &&
		    this.named());
		const look = onLook(() => this.screen.look());
		const seen = new ResizeObserver(() => this.fitted());
		const online = () => this.wire.hurry();

		term.onData((data) => {
			const held = this.held.ctrl || this.held.alt;

			this.type(held && data.length === 1 ?
			    withHeld(data, this.held) : data);
			if (held)
				this.bar.release();
		});
		term.onBinary((data) => this.type(Uint8Array.from(data,
		    (c) => c.charCodeAt(0))));
		term.onTitleChange((words) => text(this.p.heading, format.brief(
		    format.plain(clean(words)), TITLE_MAX)));
		term.attachCustomKeyEventHandler((e) => this.onKey(e));
		this.box.addEventListener("paste", (e) => this.onPaste(e), true);
		this.p.size.addEventListener("click", () => {
			const d = this.screen.propose();

			if (d && this.writer)
				this.wire.resize(d.cols, d.rows);
			term.focus();
		});
		seen.observe(this.box);
		addEventListener("online", online);
		this.stops = [store, look, () => seen.disconnect(),
		    () => removeEventListener("online", online)];
		this.named();
	}

	named() {
		const s = sessions.get(this.id);
		const name = s ? format.title(s) : format.short(this.id);

		text(this.p.name, name);
		document.title = `${name} · terminal`;
		if (this.owned !== (s !== undefined))
			this.fillActions();
		this.owned = s !== undefined;
		if (this.over && s !== undefined && !format.isActive(s))
			this.exited(...this.over);
		this.follow(s?.started_at);
	}

	// Somebody else may have started it again.
	follow(run) {
		const other = run && this.run && run !== this.run;

		this.run = run ?? this.run;
		if (other)
			this.nextRun();
	}

	fillActions() {
		const s = sessions.get(this.id);
		const more = iconButton("dots", "More", () => menu(more,
		    "terminal", this.rows(sessions.get(this.id))));

		replace(this.p.acts, s && act.isOwner(s) &&
		    iconButton("share", "Share by a link",
			() => shareDialog(s).catch(complain)),
		    iconButton("search", "Search (Ctrl Shift F)",
			() => this.search.toggle()), more);
	}

	rows(s) {
		return [
			s && { label: "The session", name: "info",
			    run: () => go("/session/" + this.id) },
			this.key === null && { label: this.wire.readOnly ?
			    "Type again" : "Only look", name: "eye",
			    run: () => this.lookOnly(!this.wire.readOnly) },
			{ label: "Larger text", name: "plus",
			    run: () => this.zoom(1) },
			{ label: "Smaller text", name: "down",
			    run: () => this.zoom(-1) },
			{ label: "Screen reader mode", name: "help",
			    run: () => this.readOut() },
			...(s ? act.rows(s).slice(1) : []),
		];
	}

	lookOnly(on) {
		this.wire.readOnly = on;
		this.wire.at = null;
		this.wire.again();
		this.term.focus();
	}

	zoom(d) {
		this.term.options.fontSize = Math.max(8,
		    Math.min(32, this.term.options.fontSize + d));
		this.fitted();
	}

	readOut() {
		this.term.options.screenReaderMode =
		    !this.term.options.screenReaderMode;
		this.term.focus();
	}

	end() {
		// a user with access of their own used a link this once
		if (sessions.has(this.id))
			sessionStorage.removeItem(storeOf(this.id));
		clearTimeout(this.fitting);
		this.stops.forEach((f) => f());
		this.wire.close();
		this.term.dispose();
	}
}

export function terminalView(root, { id }) {
	const view = new View(root, id);

	return () => view.end();
}
