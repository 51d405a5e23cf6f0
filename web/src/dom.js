// SPDX-License-Identifier: ISC
// Elements.  All text becomes text nodes: what programs and other users
// wrote is never read as markup.
import { ICONS } from "./icons.js";

const SVG = "http://www.w3.org/2000/svg";

function set(el, props) {
	for (const [key, value] of Object.entries(props)) {
		if (value === undefined || value === null || value === false)
			continue;
		if (key.startsWith("on"))
			el.addEventListener(key.slice(2), value);
		else if (key === "value" || key === "checked")
			el[key] = value;
		else if (key === "data")
			Object.assign(el.dataset, value);
		else
			el.setAttribute(key, value === true ? "" : value);
	}
}

export function add(el, ...children) {
	for (const c of children) {
		if (c === undefined || c === null || c === false)
			continue;
		if (Array.isArray(c))
			add(el, ...c);
		else
			el.append(c instanceof Node ? c : String(c));
	}
	return el;
}

// h("button.primary", { onclick: f }, "Start")
export function h(spec, ...rest) {
	const [tag, ...classes] = spec.split(".");
	const el = document.createElement(tag);

	if (classes.length > 0)
		el.className = classes.join(" ");
	for (const r of rest) {
		if (r !== null && typeof r === "object" &&
		    !Array.isArray(r) && !(r instanceof Node))
			set(el, r);
		else
			add(el, r);
	}
	return el;
}

export function svg(tag, props, ...children) {
	const el = document.createElementNS(SVG, tag);

	set(el, props);
	return add(el, ...children);
}

export function icon(name) {
	return svg("svg", { class: "icon", viewBox: "0 0 24 24",
	    "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

// Touches the document only where something is different.
export function text(el, value) {
	if (el.textContent !== value)
		el.textContent = value;
}

const REACHED = "a[href], button, input, select, textarea, [tabindex]";
const nameOf = (el) => el.getAttribute("aria-label") ?? el.textContent;

// The focus goes to what is called the same, else to what has the same place.
function refocus(el, had, at) {
	const all = [...el.querySelectorAll(REACHED)];
	const same = all.find((e) => e.tagName === had.tagName &&
	    nameOf(e) !== "" && nameOf(e) === nameOf(had));

	(same ?? all[Math.min(at, all.length - 1)])?.focus(
	    { preventScroll: true });
}

// Who works with the keyboard in what is replaced goes on in what is new.
function keepingFocus(el, f) {
	const had = document.activeElement;
	const at = [...el.querySelectorAll(REACHED)].indexOf(had);

	f();
	if (at !== -1 && document.activeElement !== had)
		refocus(el, had, at);
}

export function replace(el, ...children) {
	keepingFocus(el, () => {
		el.replaceChildren();
		add(el, ...children);
	});
	return el;
}

// Whether the old one stays: it is the same, or a list, which is so in part.
function stays(old, made) {
	if (old.isEqualNode(made))
		return true;
	if (old.nodeName !== "DL" || made.nodeName !== "DL")
		return false;
	renewNodes(old, [...made.childNodes]);
	return true;
}

// Rows that come or go: what is the same before and after them stays.
function replaceMiddle(el, olds, made) {
	let at = 0;

	for (; olds.length > 0 && made.length > 0 &&
	    stays(olds[0], made[0]); at++) {
		olds.shift();
		made.shift();
	}
	while (olds.length > 0 && made.length > 0 &&
	    stays(olds.at(-1), made.at(-1))) {
		olds.pop();
		made.pop();
	}
	const after = el.childNodes[at + olds.length] ?? null;

	olds.forEach((old) => old.remove());
	made.forEach((e) => el.insertBefore(e, after));
}

function renewNodes(el, made) {
	const olds = [...el.childNodes];

	if (made.length !== olds.length) {
		replaceMiddle(el, olds, made);
		return;
	}
	olds.forEach((old, i) => {
		if (!stays(old, made[i]))
			old.replaceWith(made[i]);
	});
}

// Puts in what is different and leaves the rest, with what is selected of it.
export function renew(el, ...children) {
	const made = [...add(h("div"), ...children).childNodes];

	keepingFocus(el, () => renewNodes(el, made));
}

export function button(label, onclick, { name, kind = "", title } = {}) {
	return h("button" + kind, { type: "button", onclick, title },
	    name && icon(name), label && h("span", label));
}

// A button of one picture; the label is what is read out.
export function iconButton(name, label, onclick, kind = "") {
	return h("button.quiet.square" + kind, { type: "button", onclick,
	    "aria-label": label, title: label }, icon(name));
}

let ids = 0;

export function fresh(prefix) {
	return prefix + ++ids;
}

// A labelled field; hint is read out with it.
export function field(label, input, hint) {
	const id = fresh("f");

	input.id = id;
	if (hint !== undefined)
		input.setAttribute("aria-describedby", id + "h");
	return h("div.field", h("label", { for: id }, label), input,
	    hint !== undefined && h("p.hint", { id: id + "h" }, hint));
}

export function check(label, checked = false, hint) {
	const input = h("input", { type: "checkbox", checked });

	return { input, el: h("label.check", input, h("span", label,
	    hint && h("small", hint))) };
}

export function select(options, value) {
	const el = h("select", options.map(([v, label]) =>
	    h("option", { value: v }, label)));

	el.value = value;
	return el;
}
