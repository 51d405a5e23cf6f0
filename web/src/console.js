// SPDX-License-Identifier: ISC
// What a program writes, as it writes it: to follow, search and keep.
import { Ansi, lineEl } from "./ansi.js";
import { isPassing, octets, ref, source } from "./api.js";
import { button, h, icon, iconButton, replace, text } from "./dom.js";
import { bytes, count } from "./format.js";
import { whileSeen } from "./store.js";
import { complain } from "./ui.js";

const TAIL = 512 * 1024;	// of what there was before one looked
const BLOCK = 200;		// lines that are laid out together
const BLOCKS = 60;
const RUNS = 4000;		// of colours in a block: each is an element
const HITS = 2000;
const NEAR = 40;		// pixels from the end that count as the end
const RETRY_MS = 2000;
const LEFT_OUT = "before this are left out here; Download has what the " +
    "daemon still holds";

function decode(data) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(data);
	return Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
}

// -- lines --------------------------------------------------------------------

// A list of lines of which the oldest go when there are too many.
class Lines {
	constructor(el) {
		this.el = el;
		this.clear();
	}

	clear() {
		this.el.replaceChildren();
		this.open = new Map();
		this.top = null;
		this.gone = 0;
	}

	// A line that is not whole yet is put in again when it has grown.
	put(stream, runs, whole) {
		const el = lineEl(runs, stream === "stderr" ? ".err" : "");
		const had = this.open.get(stream);

		if (had?.isConnected) {
			had.parentNode.runs += el.childElementCount -
			    had.childElementCount;
			had.replaceWith(el);
		} else
			this.append(el);
		if (whole)
			this.open.delete(stream);
		else
			this.open.set(stream, el);
	}

	append(el) {
		let last = this.el.lastElementChild;

		if (last === null || last.childElementCount >= BLOCK ||
		    last.runs >= RUNS) {
			last = h("div.block");
			last.runs = 0;
			this.el.append(last);
			this.trim();
		}
		last.append(el);
		last.runs += el.childElementCount;
	}

	// How many have gone stays said before the oldest that is left.
	trim() {
		const blocks = this.el.getElementsByClassName("block");

		if (blocks.length <= BLOCKS)
			return;
		if (this.top === null)
			this.el.prepend(this.top = h("div.line.remark"));
		this.gone += blocks[0].querySelectorAll(
		    ".line:not(.remark)").length;
		blocks[0].remove();
		text(this.top, `${count(this.gone, "line")} ${LEFT_OUT}`);
	}

	note(words) {
		this.append(h("div.line.remark", words));
	}
}

// -- finding ------------------------------------------------------------------

const canHighlight = typeof Highlight === "function" && CSS.highlights;

// Small letters, each as long as it was: one is two when it is small.
const small = (words) => words.replaceAll("\u0130", "i").toLowerCase();

// Ranges of a line's text that match; a hit may cross coloured runs.
function hitsIn(line, needle) {
	const all = small(line.textContent);
	const found = [];

	for (let i = all.indexOf(needle); i !== -1;
	    i = all.indexOf(needle, i + needle.length))
		found.push([i, i + needle.length]);
	return found.map(([from, to]) => {
		const range = document.createRange();
		const walk = document.createTreeWalker(line,
		    NodeFilter.SHOW_TEXT);
		let at = 0, begun = false;

		for (let n = walk.nextNode(); n; n = walk.nextNode()) {
			const end = at + n.length;

			if (!begun && from < end) {
				range.setStart(n, from - at);
				begun = true;
			}
			if (to <= end) {
				range.setEnd(n, to - at);
				break;
			}
			at = end;
		}
		return range;
	});
}

function finder(scroller, onFind) {
	const input = h("input", { type: "search", placeholder: "Search  /",
	    "aria-label": "search the output", spellcheck: "false" });
	const said = h("span.said", { role: "status" });
	let hits = [], at = -1, late = 0, full = false;

	function paint() {
		if (!canHighlight)
			return;
		CSS.highlights.set("hit", new Highlight(...hits));
		CSS.highlights.set("hit-now", new Highlight(
		    ...hits.slice(at, at + 1)));
	}

	function look() {
		const needle = small(input.value), now = hits[at];

		hits = [];
		full = false;
		if (needle !== "")
			full = search(needle);
		// the same one, wherever it is among them by now
		at = now ? hits.findIndex((r) => r.startOffset ===
		    now.startOffset && r.startContainer ===
		    now.startContainer) : -1;
		paint();
		text(said, needle === "" ? "" : hits.length === 0 ? "no match" :
		    counted());
	}

	// From the end, where what is new stands; true = there may be more.
	function search(needle) {
		const lines = [...scroller.querySelectorAll(".line")];

		while (lines.length > 0 && hits.length < HITS)
			hits.push(...hitsIn(lines.pop(), needle).reverse());
		hits.reverse();
		return lines.length > 0;
	}

	function counted() {
		return `${at + 1 || "–"} of ${hits.length}${full ? "+" : ""}`;
	}

	function step(d) {
		look();
		if (hits.length === 0)
			return;
		// the first look begins at the end, where what is new stands
		at = at === -1 ? hits.length - 1 :
		    (at + d + hits.length) % hits.length;
		paint();
		onFind();
		text(said, counted());
		hits[at].startContainer.parentElement.scrollIntoView(
		    { block: "center" });
	}

	input.addEventListener("input", () => {
		at = -1;
		look();
	});
	input.addEventListener("keydown", (e) => {
		if (e.key === "Enter") {
			e.preventDefault();
			step(e.shiftKey ? 1 : -1);
		}
		if (e.key === "Escape") {
			e.stopPropagation();
			input.value = "";
			look();
			input.blur();
		}
	});
	return { el: h("div.finder", input, said,
	    iconButton("up", "Earlier match", () => step(-1)),
	    iconButton("down", "Later match", () => step(1))), input,
	changed() {
		clearTimeout(late);
		if (input.value !== "")
			late = setTimeout(look, 300);
	}, end: () => {
		clearTimeout(late);
		CSS.highlights?.clear();
	} };
}

// -- where it comes from --------------------------------------------------------

// Calls on.output(bytes, stream), on.lost(n), on.end(), from an offset on.
function follow(id, on) {
	let es = null, at = 0, timer = 0, ended = false, begun = false;
	let complained = false;

	function onOutput(e) {
		const m = JSON.parse(e.data);
		const data = decode(m.data);

		if (m.offset > at)
			on.lost(m.offset - at);
		at = m.offset + data.length;
		on.output(data, m.stream ?? "stdout");
	}

	function open() {
		es = source(ref(id, `/stream?offset=${at}`));
		es.addEventListener("output", onOutput);
		es.addEventListener("end", () => {
			ended = true;
			es.close();
			on.end();
		});
		es.onerror = () => {
			// our own way to try again knows the offset
			es.close();
			if (!ended)
				timer = setTimeout(open, RETRY_MS);
		};
	}

	async function ask() {
		const { total } = await octets(ref(id, "/output?tail=1"));

		if (ended)
			return;
		begun = true;
		at = Math.max(0, total - TAIL);
		on.begin(at);
		open();
	}

	// What may be better soon is told once, and tried again.
	function begin() {
		ask().catch((e) => {
			if (ended)
				return;
			if (!complained)
				complain(e);
			complained = true;
			if (isPassing(e))
				timer = setTimeout(begin, RETRY_MS);
		});
	}

	begin();
	const unseen = whileSeen(() => !ended && (begun ? open() : begin()),
	    () => {
		clearTimeout(timer);
		es?.close();
	});

	return () => {
		ended = true;
		unseen();
		clearTimeout(timer);
		es?.close();
	};
}

// -- the panel ------------------------------------------------------------------

export function consolePanel(id) {
	const box = h("div.lines", { tabindex: "0", role: "log",
	    "aria-label": "output", "aria-live": "off" });
	const lines = new Lines(box);
	const said = h("span.said", { role: "status" });
	const more = button("new lines", () => setFollow(true),
	    { name: "down", kind: ".small.primary.more" });
	let ansi = new Map(), following = true, unseen = 0, total = 0;
	let stop = () => {}, drawn = 0;

	const find = finder(box, () => setFollow(false));
	const followB = button("Follow", () => setFollow(!following),
	    { kind: ".small.toggle", title: "stay at the end (f)" });
	const wrapB = iconButton("wrap", "Wrap long lines", () => {
		const on = box.classList.toggle("wrap");

		wrapB.setAttribute("aria-pressed", String(on));
	});

	wrapB.setAttribute("aria-pressed", "false");

	function toEnd() {
		box.scrollTop = box.scrollHeight;
	}

	function setFollow(on) {
		following = on;
		followB.setAttribute("aria-pressed", String(on));
		replace(followB, icon(on ? "pause" : "play"),
		    h("span", on ? "Following" : "Follow"));
		if (on) {
			unseen = 0;
			toEnd();
		}
		more.hidden = on || unseen === 0;
	}

	function draw() {
		drawn = 0;
		if (following)
			toEnd();
		else if (unseen > 0) {
			more.hidden = false;
			text(more.lastElementChild,
			    `${count(unseen, "new line")}`);
		}
		text(said, bytes(total));
		find.changed();
	}

	function parserFor(stream) {
		if (!ansi.has(stream))
			ansi.set(stream, new Ansi((runs, whole) => {
				lines.put(stream, runs, whole);
				unseen += !following && whole ? 1 : 0;
			}));
		return ansi.get(stream);
	}

	const soon = () => {
		drawn ||= requestAnimationFrame(draw);
	};
	const on = {
		begin: (at) => at > 0 && lines.note(
		    `${bytes(at)} ${LEFT_OUT}`),
		output: (data, stream) => {
			parserFor(stream).push(data);
			total += data.length;
			soon();
		},
		lost: (n) => lines.note(`${bytes(n)} were lost: the daemon ` +
		    "keeps only the end of what a program writes"),
		end: soon,
	};

	function restart() {
		stop();
		lines.clear();
		ansi = new Map();
		total = unseen = 0;
		stop = follow(id, on);
	}

	box.addEventListener("scroll", () => {
		const end = box.scrollHeight - box.scrollTop -
		    box.clientHeight < NEAR;

		// only a person scrolls up; the end is followed again
		if (following && !end && performance.now() - touched < 500)
			setFollow(false);
		else if (!following && end)
			setFollow(true);
	});
	let touched = 0;

	for (const k of ["wheel", "pointerdown", "keydown", "touchmove"])
		box.addEventListener(k, () => {
			touched = performance.now();
		}, { passive: true });
	setFollow(true);
	return { el: h("section.console", { "aria-label": "output" },
	    h("div.bar", followB, find.el, said, wrapB,
	    h("a.button.quiet.square", { href: "/api/v1" + ref(id, "/output"),
		download: `${id.slice(0, 8)}.log`, "aria-label": "Download",
		title: "Download" }, icon("download"))), box, more),
	restart, find, toggle: () => setFollow(!following),
	end: () => {
		stop();
		find.end();
	} };
}
