// SPDX-License-Identifier: ISC
// Light and dark: the system's choice, or the user's.
import { iconButton } from "./dom.js";

const CHOICES = ["system", "light", "dark"];
const NAMES = { system: "system", light: "sun", dark: "moon" };
const root = document.documentElement;
const changed = new Set();

export function choice() {
	return root.dataset.theme ?? "system";
}

export function isDark() {
	return choice() === "dark" || (choice() === "system" &&
	    matchMedia("(prefers-color-scheme: dark)").matches);
}

// f() is called when it may have changed.  Returns the way out.
export function onLook(f) {
	changed.add(f);
	return () => changed.delete(f);
}

function tell() {
	for (const f of changed)
		f();
}

function choose(theme) {
	if (theme === "system") {
		delete root.dataset.theme;
		localStorage.removeItem("theme");
	} else {
		root.dataset.theme = theme;
		localStorage.setItem("theme", theme);
	}
	tell();
}

// The button goes round: as the system, light, dark.
export function themeButton() {
	const next = () => CHOICES[(CHOICES.indexOf(choice()) + 1) % 3];
	const make = () => iconButton(NAMES[choice()],
	    `Colours: ${choice()}; change to ${next()}`, () => {
		choose(next());
		const b = make();

		el.replaceWith(b);
		el = b;
		b.focus();
	    });
	let el = make();

	return el;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
