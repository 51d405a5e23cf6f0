// SPDX-License-Identifier: ISC
// The host: what it can do, what one may have of it, what was done on it.
import { del, get, me, post } from "./api.js";
import { add, button, check, field, h, icon, iconButton, replace } from "./dom.js";
import * as format from "./format.js";
import { busy, complain, confirm, copyLine, dialog, formDialog, notice } from
    "./ui.js";

const EVERY_MS = 10000;
const AUDIT_ROWS = 200;

function card(title, ...children) {
	return h("section.card", h("h2", title), children);
}

// A part of the page that is fetched, and may fail alone.
async function fill(el, load, draw) {
	try {
		const data = await load(), same = JSON.stringify(data);

		// who reads in it, and has scrolled, is left alone
		if (el.same !== same)
			replace(el, draw(data));
		el.same = same;
	} catch (e) {
		el.same = null;
		if (e.status === 401)
			return;
		replace(el, h("p.wrong", e.message, " ", e.remedy));
		if (e.status === undefined)
			complain(e);
	}
}

// -- the daemon -----------------------------------------------------------------

function roleChip([name, state]) {
	const good = state === "running";

	return h("li", { class: good ? "good" : "bad" },
	    icon(good ? "info" : "warn"), name,
	    !good && ` back in ${format.span(state.back_off_ms ?? 0)}`);
}

function drawDaemon(v) {
	return [h("dl.facts", [
		["Version", v.version],
		["Mode", v.mode === "system" ? "system: sessions run as " +
		    "their owners" : "user: sessions run as you"],
		["Sandbox", v.sandbox],
		["TLS", v.tls ? [`port ${v.tls.port}`, v.tls.fingerprint &&
		    h("code.wide", v.tls.fingerprint)] : "not spoken"],
		["Found by", v.mdns === "announced" ? "mDNS (_mydebug._tcp)" :
		    `mDNS: ${v.mdns}`],
	].map(([k, x]) => [h("dt", k), h("dd", x)])),
	(v.warnings ?? []).map((w) => h("p.warning", icon("warn"),
	    h("span", w))),
	h("h3", "Processes"), h("ul.chips",
	    Object.entries(v.roles ?? {}).map(roleChip))];
}

// -- what it can do -----------------------------------------------------------

function depRow(d) {
	const how = d.available ? "good" : d.required ? "bad" : "missing";

	return h("li." + how, h("span.mark", { "aria-hidden": "true" },
	    d.available ? "✓" : d.required ? "✗" : "–"),
	    h("div", h("b", d.name), h("span.offscreen", d.available ?
	    " is there" : " is missing"), h("span.what", d.description),
	    d.remedy && h("p.remedy", d.remedy)));
}

function drawDeps({ deps, all_satisfied: all }) {
	const order = (d) => (d.available ? 2 : d.required ? 0 : 1);

	return [h("p.hint", all ? "Everything that the daemon needs is here." :
	    "Something that the daemon needs is missing."),
	    h("ul.deps", [...deps].sort((a, b) => order(a) - order(b))
	    .map(depRow))];
}

// -- quotas -------------------------------------------------------------------

const amount = (key, n) => (key === "bytes" || key === "memory" ?
    format.bytes(n) : key === "cpu" ? `${n} s` : String(n));

function meterRow(key, q) {
	if (q === undefined || (q.used === undefined && q.limit === null))
		return null;
	const limit = q.limit === null ? "no limit" : amount(key, q.limit);
	const words = q.used === undefined ? `${limit} each` :
	    amount(key, q.used) + (q.limit === null ? ", no limit" :
	    ` of ${limit}`);

	return h("div.quota", h("span", key), h("span.num", words),
	    q.used !== undefined && q.limit !== null &&
	    h("meter", { min: "0", max: String(q.limit), high: String(
		q.limit * 0.9), value: q.used, "aria-label":
		`${key}: ${words}` }));
}

function drawQuotas(list) {
	return list.map((u) => h("div.quotas", list.length > 1 &&
	    h("h3", u.user), ["sessions", "bytes", "memory", "processes",
	    "cpu"].map((k) => meterRow(k, u[k]))));
}

// -- what was done ------------------------------------------------------------

const UUID = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;

// Ids in a line become short, and ways to their sessions.
function withLinks(words) {
	return words.split(UUID).map((part, i) => (i % 2 === 0 ? part :
	    h("a", { href: "/session/" + part }, format.short(part))));
}

function drawActivity(all) {
	if (all.length === 0)
		return h("p.hint", "Nothing yet.");
	return h("ol.history", { tabindex: "0", "aria-label": "activity" },
	    all.slice(-100).reverse().map((x) => h("li",
	    h("time", { datetime: x.time }, format.when(x.time)), " ",
	    withLinks(x.message))));
}

const AUDIT = [["time", "Time"], ["user", "User"], ["door", "Door"],
    ["address", "Address"], ["action", "Action"], ["session", "Session"],
    ["result", "Result"]];

function auditCell(e, k) {
	const v = e[k];

	if (k === "time")
		return format.when(v);
	if (k === "session" && v)
		return h("a", { href: "/session/" + v }, format.short(v));
	return v === null || v === undefined ? "" : String(v);
}

function drawAudit({ events }) {
	return h("div.tablebox", { tabindex: "0", role: "region",
	    "aria-label": "audit log" }, h("table.audit", h("thead",
	    h("tr", AUDIT.map(([, label]) => h("th", { scope: "col" },
	    label)))), h("tbody", events.slice(-AUDIT_ROWS).reverse()
	    .map((e) => h("tr", AUDIT.map(([k]) => h("td", auditCell(e, k))))))));
}

// -- tokens -------------------------------------------------------------------

async function tokenDialog(redraw) {
	const label = h("input", { maxlength: "64", autofocus: true,
	    spellcheck: "false" });
	const days = h("input", { type: "number", min: "0", value: "30" });
	const ro = check("Read-only", false, "sees, and changes nothing");
	const made = await formDialog("New token", [
		field("Label", label, "Says later what it is for."),
		field("Days until it ends", days, "0: never."), ro.el,
	], "Make", async (close) => close(await post("/tokens", {
		...(label.value && { label: label.value }),
		...(Number(days.value) > 0 &&
		    { expires: Number(days.value) * 86400 }),
		...(ro.input.checked && { read_only: true }) })));

	if (!made)
		return;
	await dialog("The token", () => h("div.fields",
	    h("p", "It is shown once: keep it where only you can read it."),
	    copyLine(made.token, "Copy the token")));
	redraw();
}

function tokenRow(t, redraw) {
	const ended = t.expires && Date.parse(t.expires) <= Date.now();

	return h("li", h("div", Boolean(t.label) && [h("b", t.label), " "],
	    h("code", t.id), t.read_only && h("span.tag", "read-only"),
	    h("small", [me.admin && t.user, `made ${format.when(t.created)}`,
	    t.expires && `${ended ? "ended" : "ends"} ${
	    format.when(t.expires)}`].filter(Boolean)
	    .join(", "))), iconButton("trash", `Revoke ${t.label || t.id}`,
	    async (e) => {
		const b = e.currentTarget;

		if (!await confirm("Revoke this token?", "Who uses it is " +
		    "logged out at once.", "Revoke"))
			return;
		await busy(b, async () => {
			await del("/tokens/" + encodeURIComponent(t.id));
			notice("Revoked.");
			redraw();
		});
	    }));
}

// -- the view -----------------------------------------------------------------

export function hostView(root) {
	const el = { daemon: h("div"), deps: h("div"), quotas: h("div"),
	    activity: h("div"), audit: h("div"), tokens: h("div") };
	const tokens = () => fill(el.tokens, () => get("/tokens"), (list) => [
		list.length === 0 ? h("p.hint", "None. A token logs a " +
		    "program, or you from elsewhere, in.") :
		    h("ul.tokens", list.map((t) => tokenRow(t, tokens))),
		!me.read_only && button("New token", () =>
		    tokenDialog(tokens).catch(complain),
		    { name: "key", kind: ".small" }),
	]);
	const often = () => {
		fill(el.daemon, () => get("/version"), drawDaemon);
		fill(el.quotas, () => get("/quota"), drawQuotas);
		fill(el.activity, () => get("/activity"), drawActivity);
		// of these once is enough, if they came
		if (el.tokens.same === null)
			tokens();
		if (el.deps.same === null)
			deps();
	};
	const deps = () => fill(el.deps, () => get("/deps"), drawDeps);
	const clock = setInterval(() => !document.hidden && often(), EVERY_MS);

	add(root, h("div.heading", h("h1", { tabindex: "-1" },
	    "Host"), h("span.where", location.host)), h("div.cards", card("Daemon", el.daemon),
	    card("What this host can do", el.deps), card("Quotas", el.quotas),
	    card("Tokens", el.tokens), card("Activity", el.activity)),
	    me.admin && h("section.card.full", h("h2", "Audit log"),
	    h("p.actions", button("Reload", () => audit(),
		{ kind: ".small" })), el.audit));
	document.title = "Host · debuglantern";
	const audit = () => fill(el.audit, () => get("/audit"), drawAudit);

	often();
	tokens();
	deps();
	if (me.admin)
		audit();
	return () => clearInterval(clock);
}
