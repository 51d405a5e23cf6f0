// SPDX-License-Identifier: ISC
// The screen of a terminal: xterm.js, its parts, its colours, and what it
// may answer to the program.
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";
import { withoutInlineStyles } from "./csp.js";
import { brief, plain } from "./format.js";
import { isDark } from "./look.js";

withoutInlineStyles();

const DARK = {
	background: "#100e0b", foreground: "#e9e2d4", cursor: "#f2b84b",
	cursorAccent: "#100e0b", selectionBackground: "#5a4a2a",
	black: "#2b2721", red: "#ef7d6b", green: "#8fc774", yellow: "#f2b84b",
	blue: "#7aa9e6", magenta: "#c792d8", cyan: "#6cc4c0", white: "#d8d0c0",
	brightBlack: "#8a8172", brightRed: "#ff9c8b", brightGreen: "#aee08f",
	brightYellow: "#ffd98a", brightBlue: "#9dc3f5",
	brightMagenta: "#dcb0ea", brightCyan: "#8fdedb",
	brightWhite: "#fffaf0",
};

const LIGHT = {
	background: "#fffdf8", foreground: "#2a261f", cursor: "#9a6500",
	cursorAccent: "#fffdf8", selectionBackground: "#f0dcae",
	black: "#2a261f", red: "#b3311f", green: "#3f7423", yellow: "#8a5a00",
	blue: "#2459a8", magenta: "#8a3a9c", cyan: "#0f6f6c", white: "#8b8374",
	brightBlack: "#6b6355", brightRed: "#cf4532", brightGreen: "#4f8a30",
	brightYellow: "#a06c06", brightBlue: "#346dc4",
	brightMagenta: "#a04fb3", brightCyan: "#1b8380",
	brightWhite: "#4a443a",
};

// Questions of programs that a terminal answers.  Several of us are attached
// to one program, which must hear one answer.
const QUERIES = [
	{ final: "c" }, { prefix: ">", final: "c" },
	{ prefix: "=", final: "c" }, { final: "n" },
	{ prefix: "?", final: "n" }, { final: "x" },
	{ intermediates: "$", final: "p" },
	{ prefix: "?", intermediates: "$", final: "p" },
	{ prefix: ">", final: "q" }, { prefix: "?", final: "u" },
];
const URI_MAX = 500;
const COLOUR_OSC = [4, 10, 11, 12];
// The clipboard is not for programs.
const CLIPBOARD_OSC = 52;

// Names of renderers that are programs.
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function silence(term, mayAnswer) {
	const quiet = () => !mayAnswer();

	for (const id of QUERIES)
		term.parser.registerCsiHandler(id, quiet);
	term.parser.registerDcsHandler({ intermediates: "$", final: "q" },
	    quiet);
	for (const n of COLOUR_OSC)
		term.parser.registerOscHandler(n, (data) =>
		    data.includes("?") && quiet());
	term.parser.registerOscHandler(CLIPBOARD_OSC, () => true);
}

function openLink(event, uri) {
	const url = URL.parse ? URL.parse(uri) : new URL(uri);

	if (url?.protocol !== "https:" && url?.protocol !== "http:")
		return;
	event.preventDefault();
	window.open(url.href, "_blank", "noopener,noreferrer");
}

// Without graphics hardware WebGL takes five times as long as the page.
function hasHardware() {
	const gl = document.createElement("canvas").getContext("webgl2",
	    { failIfMajorPerformanceCaveat: true });
	const names = gl?.getExtension("WEBGL_debug_renderer_info");
	const name = names && gl.getParameter(names.UNMASKED_RENDERER_WEBGL);

	gl?.getExtension("WEBGL_lose_context")?.loseContext();
	return gl !== null && !SOFTWARE.test(name ?? "");
}

// WebGL draws fastest; without it, or when it is taken away, the page does.
function drawFast(term, onDraw) {
	if (!hasHardware()) {
		onDraw("page");
		return;
	}
	try {
		const gl = new WebglAddon();

		gl.onContextLoss(() => {
			gl.dispose();
			onDraw("page");
		});
		term.loadAddon(gl);
		onDraw("webgl");
	} catch {
		onDraw("page");
	}
}

export function makeScreen(place, { mayAnswer, onDraw }) {
	const term = new Terminal({
		allowProposedApi: true,
		cursorBlink: !matchMedia("(prefers-reduced-motion)").matches,
		fontFamily: "ui-monospace, 'SF Mono', 'Cascadia Mono', " +
		    "Menlo, 'DejaVu Sans Mono', Consolas, monospace",
		fontSize: innerWidth < 600 ? 12 : 14,
		// what is written need not be where it leads
		linkHandler: { activate: (e, uri) => openLink(e, uri),
		    hover: (e, uri) => {
			    place.title = brief(plain(uri), URI_MAX);
		    },
		    leave: () => place.removeAttribute("title") },
		macOptionIsMeta: true,
		minimumContrastRatio: 4.5,
		rightClickSelectsWord: false,
		scrollback: 10000,
		theme: isDark() ? DARK : LIGHT,
		windowOptions: {},
	});
	const fit = new FitAddon(), search = new SearchAddon();

	term.loadAddon(fit);
	term.loadAddon(search);
	term.loadAddon(new Unicode11Addon());
	term.loadAddon(new WebLinksAddon(openLink));
	term.unicode.activeVersion = "11";
	silence(term, mayAnswer);
	term.open(place);
	drawFast(term, onDraw);
	return { term, search, look: () => {
		term.options.theme = isDark() ? DARK : LIGHT;
	}, propose: () => {
		const d = fit.proposeDimensions();

		return d && d.cols > 1 && d.rows > 1 ? {
			cols: Math.min(1000, d.cols),
			rows: Math.min(1000, d.rows) } : null;
	} };
}
