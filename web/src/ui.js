// SPDX-License-Identifier: ISC
// What lies above a view: notices, dialogs, menus, the clipboard.
import { sayError } from "./api.js";
import { add, button, fresh, h, icon, iconButton, text } from "./dom.js";

const NOTICE_MS = 6000;

const notices = h("div.notices", { role: "log", "aria-live": "polite",
    "aria-label": "notices" });

export function mountNotices() {
	document.body.append(notices);
}

export function notice(words, { bad = false, remedy = "", action } = {}) {
	const el = h("div.notice" + (bad ? ".bad" : ""),
	    icon(bad ? "warn" : "info"),
	    h("div", h("p", words), remedy && h("p.remedy", remedy)));
	const away = () => el.remove();

	if (action)
		el.append(button(action.label, () => {
			away();
			action.run();
		}, { kind: ".small" }));
	el.append(iconButton("close", "Dismiss", away));
	notices.append(el);
	// what went wrong stays until it was read
	if (!bad)
		setTimeout(away, NOTICE_MS);
	while (notices.children.length > 4)
		notices.firstChild.remove();
	return away;
}

export function complain(e) {
	if (e.name === "AbortError" || e.status === 401)
		return;
	notice(e.message, { bad: true, remedy: e.remedy });
	if (e.status === undefined)
		console.error(e);
}

// Runs what a button does: it waits meanwhile, and errors are shown.
export async function busy(el, f) {
	if (el?.hasAttribute("aria-busy"))
		return undefined;
	el?.setAttribute("aria-busy", "true");
	try {
		return await f();
	} catch (e) {
		complain(e);
		return undefined;
	} finally {
		el?.removeAttribute("aria-busy");
	}
}

// -- dialogs --------------------------------------------------------------------

// A dialog around a body; resolves with what close(value) was given.
export function dialog(heading, build, { wide = false } = {}) {
	const id = fresh("d");
	const el = h("dialog" + (wide ? ".wide" : ""),
	    { "aria-labelledby": id });

	return new Promise((resolve) => {
		let value;
		const close = (v) => {
			value = v;
			el.close();
		};

		add(el, h("header", h("h2", { id }, heading),
		    iconButton("close", "Close", () => close())));
		add(el, build(close, el));
		el.addEventListener("close", () => {
			el.remove();
			resolve(value);
		});
		el.addEventListener("click", (e) => {
			if (e.target === el)
				close();
		});
		document.body.append(el);
		el.showModal();
		el.querySelector("[autofocus]")?.focus();
	});
}

// A form in a dialog: submit(close) runs on Enter and on the main button.
export function formDialog(heading, fields, submitLabel, submit, options) {
	return dialog(heading, (close) => {
		const wrong = h("p.wrong", { role: "alert" });
		const go = button(submitLabel, undefined,
		    { kind: options?.danger ? ".danger" : ".primary" });

		go.type = "submit";
		return h("form", { onsubmit: async (e) => {
			e.preventDefault();
			if (go.hasAttribute("aria-busy"))
				return;
			text(wrong, "");
			go.setAttribute("aria-busy", "true");
			try {
				await submit(close);
			} catch (err) {
				text(wrong, sayError(err));
			} finally {
				go.removeAttribute("aria-busy");
			}
		} }, h("div.fields", fields), wrong, h("footer",
		    button("Cancel", () => close(), { kind: ".quiet" }), go));
	}, options);
}

export function confirm(heading, words, label, options = {}) {
	return formDialog(heading, h("p", words), label,
	    (close) => close(true), { danger: true, ...options });
}

// -- menus ----------------------------------------------------------------------

function place(menu, anchor) {
	const a = anchor.getBoundingClientRect();
	const m = menu.getBoundingClientRect();
	const below = a.bottom + m.height + 8 < innerHeight;

	menu.style.left = Math.max(8, Math.min(a.right - m.width,
	    innerWidth - m.width - 8)) + "px";
	menu.style.top = Math.max(8, below ? a.bottom + 4 :
	    a.top - m.height - 4) + "px";
}

function step(menu, e) {
	const items = [...menu.querySelectorAll("button:not([disabled])")];
	const at = items.indexOf(document.activeElement);
	const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0,
	    End: items.length - 1 }[e.key];

	if (to === undefined)
		return;
	e.preventDefault();
	items[(to + items.length) % items.length].focus();
}

// rows: [{ label, name, run, danger }]; null rows are lines between.
export function menu(anchor, label, rows) {
	const el = h("div.menu", { role: "menu", "aria-label": label,
	    popover: "auto", onkeydown: (e) => step(el, e),
	    ontoggle: (e) => e.newState === "closed" && el.remove() },
	    rows.filter(Boolean).map((r) => h("button" +
	    (r.danger ? ".danger" : ""), { type: "button", role: "menuitem",
	    onclick: () => {
		    el.hidePopover();
		    anchor.focus();
		    r.run();
	    } }, icon(r.name), h("span", r.label))));

	(anchor.closest("main, .top") ?? document.body).append(el);
	el.showPopover();
	place(el, anchor);
	el.querySelector("button")?.focus();
}

// -- the clipboard ---------------------------------------------------------------

// Pages that came over plain HTTP from elsewhere have no clipboard.
function copyOld(words) {
	const el = h("textarea.offscreen", { value: words,
	    "aria-hidden": "true" });

	(document.querySelector("dialog[open]") ?? document.body).append(el);
	el.select();
	const good = document.execCommand("copy");

	el.remove();
	return good;
}

export async function copy(words, what = "Copied") {
	try {
		await navigator.clipboard.writeText(words);
	} catch {
		if (!copyOld(words)) {
			notice("The browser does not allow copying.",
			    { bad: true, remedy: "Select and copy by hand." });
			return;
		}
	}
	notice(what + ".");
}

// A line to copy: text that is there to be read, and its button.
export function copyLine(words, label) {
	return h("div.copyline", h("code", { tabindex: "0" }, words),
	    iconButton("copy", label, () => copy(words)));
}

// -- downloads -------------------------------------------------------------------

export function save(parts, name, type = "application/octet-stream") {
	const url = URL.createObjectURL(new Blob(parts, { type }));

	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function isTyping(e) {
	const t = e.target;

	return t instanceof HTMLElement && (t.isContentEditable ||
	    /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) &&
	    t.type !== "checkbox");
}
