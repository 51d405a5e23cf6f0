// SPDX-License-Identifier: ISC
// Logging in: by a link that works once, or by a token.
import { post, sayError } from "./api.js";
import { button, field, h, text } from "./dom.js";

// The key leaves the address before anything else happens with it.  What is no
// key is not tried: there are only so many tries.
function keyOfAddress() {
	const key = location.hash.slice(1);

	if (!/^dl[ot]_[\w-]+$/.test(key))
		return null;
	history.replaceState(null, "", "/login");
	return key;
}

function bodyOf(secret) {
	return secret.startsWith("dlo_") ? { key: secret } :
	    { token: secret };
}

// What was pasted may be the whole link.
function secretIn(pasted) {
	return /dl[ot]_[\w-]+/.exec(pasted)?.[0] ?? pasted.trim();
}

export function loginView(root, done) {
	const input = h("input", { type: "password", autocomplete: "off",
	    spellcheck: "false", required: true, name: "token" });
	const wrong = h("p.wrong", { role: "alert" });
	const go = button("Log in", undefined, { kind: ".primary" });

	async function logIn(secret) {
		if (go.hasAttribute("aria-busy"))
			return;
		text(wrong, "");
		go.setAttribute("aria-busy", "true");
		try {
			await post("/login", bodyOf(secret));
			await done();
		} catch (e) {
			text(wrong, sayError(e));
			input.select();
		} finally {
			go.removeAttribute("aria-busy");
		}
	}

	go.type = "submit";
	root.append(h("section.login",
	    h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
	    h("h1", { tabindex: "-1" }, "debuglantern"),
	    h("p", "Programs on this host, seen from every side."),
	    h("form", { onsubmit: (e) => {
		    e.preventDefault();
		    logIn(secretIn(input.value));
	    } }, field("Login link or token", input), wrong, go),
	    h("div.how", h("p", "On the host, this prints a link for you:"),
	    h("code", "debuglanternctl web"),
	    h("p", "From elsewhere, a token made there logs you in:"),
	    h("code", "debuglanternctl token create"))));
	document.title = "Log in · debuglantern";

	const key = keyOfAddress();

	if (key !== null)
		logIn(key);
	else
		input.focus();
	const onHash = () => {
		const k = keyOfAddress();

		if (k !== null)
			logIn(k);
	};

	addEventListener("hashchange", onHash);
	return () => removeEventListener("hashchange", onHash);
}
