// SPDX-License-Identifier: ISC
// A guard before what is pasted: it may hold more than one sees.
import { button, check, h } from "./dom.js";
import { count } from "./format.js";
import { dialog } from "./ui.js";

const SHOWN = 4000;

// What could end a bracketed paste, or act as keys: all controls but tab and
// the ends of lines.
// C1 controls begin sequences as well as ESC does.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

export function clean(words) {
	return words.replace(/\r\n?/g, "\n").replace(CONTROLS, "");
}

let trusted = false;

function ask(words, dropped) {
	const lines = words.trimEnd().split("\n").length;
	const rest = words.length - SHOWN;
	const always = check("Do not ask again on this page");

	return dialog(`Paste ${count(lines, "line")}?`, (close) => [
		h("div.fields", h("p", "Every line may be run as a command."),
		h("pre.pasted", { tabindex: "0" }, words.slice(0, SHOWN),
		    rest > 0 && `\n… and ${rest} characters more`),
		dropped > 0 && h("p.hint", `${count(dropped,
		    "control character")} taken out.`), always.el),
		h("footer", button("Cancel", () => close(false),
		    { kind: ".quiet" }),
		(() => {
			const b = button("Paste", () => {
				trusted = always.input.checked;
				close(true);
			}, { kind: ".primary" });

			b.setAttribute("autofocus", "");
			return b;
		})()),
	]);
}

// Resolves with what may be pasted, or with nothing.
export async function guard(raw) {
	const words = clean(raw);
	const dropped = raw.replace(/\r\n/g, "\n").length - words.length;

	if (words.includes("\n") && !trusted && !await ask(words, dropped))
		return "";
	return words;
}
