// SPDX-License-Identifier: ISC
// Links to a terminal, for those who have no account here.
import { post } from "./api.js";
import { button, h, replace, select } from "./dom.js";
import { busy, copyLine, dialog } from "./ui.js";


function linkTo(s, key) {
	return `${location.origin}/terminal/${s.id}#${key}`;
}

async function makeKeys(s, rotate) {
	const path = `/pty/sessions/${encodeURIComponent(s.id)}/keys`;
	const keys = await post(path, { rotate });

	return { rw: keys.token,
	    ro: keys.readOnlyToken ?? keys.read_only_token };
}

// What is shown once there are links, or when there were some before.
function results(place, s, which, keys) {
	replace(place, h("p.hint", which === "ro" ? "Who has this link sees " +
	    "the terminal and can type nothing:" : "Who has this link types " +
	    "as you do, until the session is deleted:"),
	    copyLine(linkTo(s, keys[which]), "Copy the link"));
}

function madeBefore(place, again) {
	replace(place, h("p.hint", "Links were made before. They cannot be " +
	    "shown again, as only their hashes are kept. New ones end them, " +
	    "also for those who use them now."),
	    button("Make new links", again, { kind: ".small.danger" }));
}

export function linkFields(s) {
	const which = select([["ro", "may look"], ["rw", "may type"]], "ro");
	const place = h("div.fields", { "aria-live": "polite" });
	let keys = null;

	async function make(rotate) {
		try {
			keys ??= await makeKeys(s, rotate);
			results(place, s, which.value, keys);
		} catch (e) {
			if (rotate || e.code !== "keys_exist")
				throw e;
			madeBefore(place, (ev) => busy(ev.currentTarget,
			    () => make(true)));
		}
	}

	which.setAttribute("aria-label", "who has the link");
	which.addEventListener("change", () => keys !== null && make(false));
	return h("div.fields", h("div.inline", which, button("Make a link",
	    (e) => busy(e.currentTarget, () => make(false)),
	    { kind: ".small", name: "share" })), place);
}

export function shareDialog(s) {
	return dialog("Share this terminal", () => h("div.fields",
	    linkFields(s), h("p.hint", "Users of this host need no link: " +
	    "share the session with them on its page.")));
}
