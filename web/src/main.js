// SPDX-License-Identifier: ISC
// The frame of the page: its head, who is logged in, which view is shown.
import { isPassing, me, onLoggedOut, post, sayError, whoAmI } from "./api.js";
import { button, h, icon, iconButton, replace, text } from "./dom.js";
import { hostView } from "./host.js";
import { helpDialog } from "./keys.js";
import { loginView } from "./login.js";
import { themeButton } from "./look.js";
import { go, mount, otherwise, route, show } from "./router.js";
import { sessionView } from "./session.js";
import { sessionsView } from "./sessions.js";
import { connect, disconnect, forget, link, load, watch } from "./store.js";
import { complain, menu, mountNotices, notice } from "./ui.js";

const AGAIN_MS = 2000;

const main = h("main", { id: "main", tabindex: "-1" });
const user = h("div.user");
const state = h("p.link", { role: "status" });
const nav = h("nav", { "aria-label": "views" },
    h("a", { href: "/" }, icon("list"), h("span", "Sessions")),
    h("a", { href: "/host" }, icon("host"), h("span", "Host")));
const head = h("header.top",
    h("a.brand", { href: "/", "aria-label": "debuglantern" },
    h("img", { src: "/icon.svg", alt: "", width: "28", height: "28" }),
    h("span", "debuglantern")), nav, state, user,
    iconButton("help", "Keyboard shortcuts (?)", helpDialog, ".wide-only"),
    themeButton());

function showUser() {
	nav.hidden = me.user === null;
	if (me.user === null) {
		replace(user);
		return;
	}
	const b = button(me.user, () => menu(b, "account", [
		{ label: "Log out", name: "out", run: logOut },
	]), { kind: ".quiet.chip",
	    title: "logged in as " + me.user });

	replace(user, me.read_only && h("span.tag", "read-only"),
	    me.admin && h("span.tag.wide-only", "admin"), b);
}

function showLink() {
	const broken = me.user !== null && !link.up &&
	    Date.now() - link.since > 1500;

	text(state, broken ? "no connection" : "");
	state.classList.toggle("broken", broken);
}

async function logOut() {
	// the daemon ends what the login had open
	disconnect();
	try {
		await post("/logout");
	} catch (e) {
		complain(e);
	}
	localStorage.removeItem("user");
	unsay();
	leaveAccount();
	go("/login");
}

function leaveAccount() {
	forget();
	Object.assign(me, { user: null, admin: false, csrf: "" });
	showUser();
}

function onShow(path, lost) {
	// what is shown of one session belongs to all of them
	const page = /^\/(session|terminal)\//.test(path) ? "/" : path;

	for (const a of nav.children) {
		if (a.pathname === page && !lost)
			a.setAttribute("aria-current", "page");
		else
			a.removeAttribute("aria-current");
	}
	document.body.dataset.view = path.split("/")[1] || "sessions";
}

// Where somebody wanted to go before it turned out that they must log in.
let wanted = null;

export async function enter() {
	await whoAmI();
	showUser();
	await load();
	connect();
}

// A link may be somebody else's, who would like to be given one's programs.
let unsay = () => {};

function saySwitch(before) {
	unsay();
	if (before !== null && before !== me.user)
		unsay = notice(`You act as ${me.user} from now on, no longer as ` +
		    `${before}.`, { bad: true, remedy: "If that was not " +
		    "your intention, log out and do not use that link again." });
}

async function loggedIn() {
	const before = localStorage.getItem("user");

	await enter();
	localStorage.setItem("user", me.user);
	const to = wanted ?? "/";

	wanted = null;
	go(to, { replace: true });
	saySwitch(before);
}

function mustLogIn() {
	if (location.pathname === "/login")
		return;
	if (me.user !== null)
		notice("You are no longer logged in.", { bad: true,
		    remedy: "The login ended, or its token was revoked." });
	wanted = location.pathname;
	leaveAccount();
	go("/login", { replace: true });
}

// A terminal may be shown by its key alone, to somebody without an account.
function byKey() {
	return location.pathname.startsWith("/terminal/") &&
	    (/^#dl[ksv]_/.test(location.hash) ||
	    sessionStorage.getItem("key " + location.pathname) !== null);
}

function onKey(e) {
	if (e.key !== "?" || e.defaultPrevented ||
	    e.target.matches("input, textarea, select") ||
	    document.querySelector("dialog[open]"))
		return;
	e.preventDefault();
	helpDialog();
}

function terminalView(root, params) {
	let leave = null, left = false;

	root.append(h("p.loading", { role: "status" },
	    "The terminal is being loaded …"));
	import("./terminal.js").then((m) => {
		if (left)
			return;
		root.replaceChildren();
		leave = m.terminalView(root, params);
	}, complain);
	return () => {
		left = true;
		leave?.();
	};
}

function nowhereView(root) {
	document.title = "No such view · debuglantern";
	root.append(h("div.empty", h("h1", { tabindex: "-1" },
	    "There is no such view"), h("p", "The address was mistyped, or " +
	    "the link to it is old."), h("code", location.pathname),
	    h("a.button.primary", { href: "/" }, "To the sessions")));
}

function routes() {
	route("/", sessionsView);
	route("/host", hostView);
	route("/login", (root) => loginView(root, loggedIn));
	route("/session/:id", sessionView);
	route("/terminal/:id", terminalView);
	otherwise(nowhereView);
}

// Until somebody has answered nothing is known, not even that there is nothing.
async function first() {
	try {
		if (location.pathname !== "/login")
			await enter();
	} catch (e) {
		if (isPassing(e)) {
			replace(main, h("p.loading", { role: "status" },
			    sayError(e), " It is asked again."));
			setTimeout(first, AGAIN_MS);
			return;
		}
		complain(e);
	}
	onLoggedOut(mustLogIn);
	// unless the way to the login was taken already
	if (!document.body.dataset.view)
		show();
}

function begin() {
	const guest = byKey();

	showUser();
	document.body.append(h("a.skip", { href: "#main", onclick: (e) => {
		// no address of the page: a login would take it for a key
		e.preventDefault();
		main.focus();
	} }, "Skip to the content"), head, main);
	mountNotices();
	routes();
	mount(main, onShow);
	document.addEventListener("keydown", onKey);
	watch(showLink);
	setInterval(showLink, 1000);
	if (!guest)
		onLoggedOut(mustLogIn);
	first();
}

begin();
