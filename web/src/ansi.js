// SPDX-License-Identifier: ISC
// A program's output as lines of coloured text.  What moves the cursor
// about is for a terminal and is left out here; a carriage return begins the
// line again, as progress bars do.
import { h } from "./dom.js";

const STATE_TEXT = 0, STATE_ESC = 1, STATE_CSI = 2, STATE_STRING = 3;
const LONGEST = 4096;	// of a line, then it is broken

const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false,
    under: false, inverse: false };

const FLAGS = { 1: ["bold", true], 2: ["dim", true], 3: ["italic", true],
    4: ["under", true], 7: ["inverse", true], 23: ["italic", false],
    24: ["under", false], 27: ["inverse", false] };

// The six steps of the colours 16 to 231.
const level = (n) => (n === 0 ? 0 : 55 + 40 * n);

function indexed(n) {
	if (n < 16)
		return n;
	if (n >= 232) {
		const v = 8 + 10 * (n - 232);

		return `rgb(${v} ${v} ${v})`;
	}
	n -= 16;
	return `rgb(${level(Math.floor(n / 36))} ` +
	    `${level(Math.floor(n / 6) % 6)} ${level(n % 6)})`;
}

// 38;5;n and 38;2;r;g;b: returns the colour and how many were taken.
function extended(p, i) {
	if (p[i + 1] === 5 && p[i + 2] <= 255)
		return [indexed(p[i + 2]), 2];
	if (p[i + 1] === 2)
		return [`rgb(${[2, 3, 4].map((k) =>
		    Math.min(255, p[i + k] || 0)).join(" ")})`, 4];
	return [null, 1];
}

function sgr(style, params) {
	const p = params.split(/[;:]/).map((x) => Number(x) || 0);
	let s = { ...style };

	for (let i = 0; i < p.length; i++) {
		const n = p[i];

		if (n === 0)
			s = { ...PLAIN };
		else if (n in FLAGS)
			s[FLAGS[n][0]] = FLAGS[n][1];
		else if (n === 22)
			s.bold = s.dim = false;
		else if (n >= 30 && n <= 37 || n >= 90 && n <= 97)
			s.fg = n < 90 ? n - 30 : n - 82;
		else if (n >= 40 && n <= 47 || n >= 100 && n <= 107)
			s.bg = n < 100 ? n - 40 : n - 92;
		else if (n === 39)
			s.fg = null;
		else if (n === 49)
			s.bg = null;
		else if (n === 38 || n === 48) {
			const [colour, taken] = extended(p, i);

			s[n === 38 ? "fg" : "bg"] = colour;
			i += taken;
		}
	}
	return s;
}

// Programs do not know on which ground they write.
function readable(colour) {
	const all = `light-dark(oklch(from ${colour} min(l, 0.5) c h), ` +
	    `oklch(from ${colour} max(l, 0.7) c h))`;

	return CSS.supports("color", all) ? all : colour;
}

const isRgb = (colour) => typeof colour === "string" && colour !== "fg";

// Black or white, which can be read on a ground that is any colour.
function inkOn(ground) {
	const [r, g, b] = ground.match(/\d+/g).map((v) => (v / 255) ** 2.2);

	return .2126 * r + .7152 * g + .0722 * b > .18 ? "#000" : "#fff";
}

function paint(el, s) {
	const [fg, bg] = s.inverse ? [s.bg, s.fg ?? "fg"] : [s.fg, s.bg];

	for (const k of ["bold", "dim", "italic", "under"])
		if (s[k])
			el.classList.add("a-" + k);
	if (isRgb(bg)) {
		el.style.backgroundColor = bg;
		el.style.color = isRgb(fg) ? fg : inkOn(bg);
	} else if (bg !== null)
		// the page's own text is what can be read on each of these
		el.classList.add("b-" + bg);
	else if (isRgb(fg))
		el.style.color = readable(fg);
	else if (fg !== null)
		el.classList.add("f-" + fg);
}

function isPlain(s) {
	return Object.keys(PLAIN).every((k) => s[k] === PLAIN[k]);
}

// Bytes go in by push(); lines come out as arrays of [text, style] by
// onLine(runs, whole).  The last one may come again, longer.
export class Ansi {
	constructor(onLine) {
		this.onLine = onLine;
		this.decoder = new TextDecoder();
		this.state = STATE_TEXT;
		this.style = PLAIN;
		this.params = "";
		this.begin();
	}

	begin() {
		this.runs = [];
		this.length = 0;
		this.again = false;
	}

	put(words) {
		const last = this.runs.at(-1);

		if (words === "")
			return;
		// what came before the carriage return is written over
		if (this.again)
			this.begin();
		this.length += words.length;
		if (last && last[1] === this.style && this.runs.length > 0)
			last[0] += words;
		else
			this.runs.push([words, this.style]);
		if (this.length >= LONGEST)
			this.end();
	}

	end() {
		this.onLine(this.runs, true);
		this.begin();
	}

	control(c) {
		if (c === "\n")
			this.end();
		else if (c === "\r")
			this.again = true;
		else if (c === "\t")
			this.put("\t");
		else if (c === "\x1b")
			this.state = STATE_ESC;
	}

	escape(c) {
		// whatever has begun: no line is lost by it
		if (c === "\n") {
			this.state = STATE_TEXT;
			this.end();
		} else if (c === "\x1b")
			this.state = STATE_ESC;
		else if (this.state === STATE_ESC) {
			this.params = "";
			this.state = c === "[" ? STATE_CSI :
			    /[P\]X^_]/.test(c) ? STATE_STRING :
			    /[ -/]/.test(c) ? STATE_ESC : STATE_TEXT;
		} else if (this.state === STATE_CSI) {
			if (c >= "@" && c <= "~") {
				if (c === "m")
					this.style = sgr(this.style,
					    this.params);
				this.state = STATE_TEXT;
			} else if (this.params.length < 64)
				this.params += c;
		} else if (c === "\x07")
			this.state = STATE_TEXT;
	}

	push(bytes) {
		const words = this.decoder.decode(bytes, { stream: true });
		const special = /[\x00-\x1f\x7f]/g;
		let i = 0;

		while (i < words.length) {
			if (this.state !== STATE_TEXT) {
				this.escape(words[i++]);
				continue;
			}
			special.lastIndex = i;
			const end = special.exec(words)?.index ?? words.length;

			this.put(words.slice(i, end));
			if (end < words.length)
				this.control(words[end]);
			i = end + 1;
		}
		if (this.length > 0)
			this.onLine(this.runs, false);
	}
}

export function lineEl(runs, kind) {
	return h("div.line" + kind, runs.map(([words, style]) => {
		if (isPlain(style))
			return words;
		const el = h("span", words);

		paint(el, style);
		return el;
	}), "\n");
}
