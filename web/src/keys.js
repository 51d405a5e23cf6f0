// SPDX-License-Identifier: ISC
// What the keyboard does, for those who ask.
import { h } from "./dom.js";
import { dialog } from "./ui.js";

const KEYS = [
	["Sessions", [
		["/", "filter the list"],
		["j k", "next, previous session"],
		["Enter", "open it"],
		["t", "open its terminal"],
		["x", "select it"],
		["s", "start or stop it"],
		["u", "upload files"],
		["n", "new terminal"],
	]],
	["A session", [
		["/", "search the output"],
		["f", "follow or pause"],
		["Esc", "back to the list"],
	]],
	["A terminal", [
		["Ctrl Shift F", "search"],
		["Ctrl Shift C", "copy what is selected"],
		["Ctrl Shift V", "paste"],
		["Ctrl Shift X", "leave the terminal for its buttons"],
	]],
];

export function helpDialog() {
	dialog("Keyboard", () => h("div.keys", KEYS.map(([where, rows]) =>
	    h("section", h("h3", where), h("dl", rows.map(([k, what]) => [
		h("dt", k.split(" ").map((x) => h("kbd", x))),
		h("dd", what),
	    ]))))), { wide: true });
}
