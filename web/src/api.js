// SPDX-License-Identifier: ISC
// Requests to the daemon, and its errors.
import { setClock } from "./format.js";

const BASE = "/api/v1";

// What to do, where the daemon's own words do not say it all.
const REMEDIES = {
	auth_required: "Log in again.",
	auth_failed: "Make a new link or token with debuglanternctl.",
	read_only: "Ask the owner to share the session read-write.",
	max_sessions_reached: "Delete sessions that are not needed any more.",
	unreachable: "Is the daemon still running, and the network there?",
};

// An error and what to do about it, as one text.
export function sayError(e) {
	return [e.message, e.remedy].filter(Boolean).map((w) =>
	    w + (/[.!?]$/.test(w) ? "" : ".")).join(" ");
}

export class ApiError extends Error {
	constructor(status, code, message) {
		super(message);
		this.status = status;
		this.code = code;
		this.remedy = REMEDIES[code] ?? "";
	}
}

// Whether it may be better soon.
export function isPassing(e) {
	return e.status === 0 || e.status === 429 || e.status >= 500;
}

// Who the page acts for; set by login and whoami.
export const me = { user: null, admin: false, read_only: false, csrf: "" };

let lost = () => {};

// f() is called when the daemon does not know (any more) who asks.
export function onLoggedOut(f) {
	lost = f;
}

export function unreachable() {
	return new ApiError(0, "unreachable", "The daemon does not answer.");
}

function errorOf(status, body) {
	const e = body?.error;

	if (e && typeof e.message === "string")
		return new ApiError(status, e.code, e.message);
	return new ApiError(status, "http_" + status,
	    `The daemon answered with status ${status}.`);
}

function parse(body) {
	try {
		return JSON.parse(body);
	} catch {
		return null;
	}
}

function judge(status, body) {
	if (status >= 200 && status < 300)
		return body?.data;
	const e = errorOf(status, body);

	if (status === 401)
		lost(e);
	throw e;
}

function headersFor(method) {
	return method === "GET" || me.csrf === "" ? {} :
	    { "X-CSRF-Token": me.csrf };
}

async function send(method, path, init, url = BASE + path) {
	try {
		return await fetch(url, { method, ...init,
		    credentials: "same-origin", redirect: "error",
		    headers: { ...headersFor(method), ...init.headers } });
	} catch (e) {
		if (e.name === "AbortError")
			throw e;
		throw unreachable();
	}
}

export async function call(method, path, body) {
	const init = body === undefined ? {} : {
		body: JSON.stringify(body),
		headers: { "Content-Type": "application/json" },
	};
	const r = await send(method, path, init);

	setClock(r.headers.get("Date"));
	return judge(r.status, parse(await r.text()));
}

export const get = (path) => call("GET", path);
export const post = (path, body = {}) => call("POST", path, body);
export const put = (path, body) => call("PUT", path, body);
export const del = (path) => call("DELETE", path);

// Octets, with where they stand in the output.
export async function octets(path) {
	const r = await send("GET", path, {});

	if (!r.ok)
		judge(r.status, parse(await r.text()));
	return { bytes: new Uint8Array(await r.arrayBuffer()),
	    offset: Number(r.headers.get("X-Offset") ?? 0),
	    total: Number(r.headers.get("X-Total") ?? 0) };
}

export async function sendOctets(path, bytes) {
	const r = await send("POST", path, { body: bytes,
	    headers: { "Content-Type": "application/octet-stream" } });

	return judge(r.status, parse(await r.text()));
}

// fetch() does not tell how far an upload is.
export function upload(path, file, onprogress) {
	const x = new XMLHttpRequest();
	const done = new Promise((resolve, reject) => {
		x.onload = () => {
			try {
				resolve(judge(x.status, parse(x.responseText)));
			} catch (e) {
				reject(e);
			}
		};
		x.onerror = () => reject(unreachable());
		x.onabort = () => reject(new ApiError(0, "cancelled",
		    "The upload was cancelled."));
	});

	x.upload.onprogress = (e) => onprogress(e.loaded, e.total);
	x.open("POST", BASE + path);
	x.setRequestHeader("Content-Type", "application/octet-stream");
	for (const [k, v] of Object.entries(headersFor("POST")))
		x.setRequestHeader(k, v);
	x.send(file);
	return { done, cancel: () => x.abort() };
}

// Why the daemon makes no WebSocket of an address, which the browser does not
// tell: an error, or null where it would.
export async function whyNot(url, key) {
	const r = await send("GET", "", { ...(key &&
	    { headers: { Authorization: "Bearer " + key } }) }, url);
	const body = parse(await r.text());

	return r.status === 400 && /WebSocket/.test(body?.error?.message) ?
	    null : errorOf(r.status, body);
}

export async function whoAmI() {
	Object.assign(me, { csrf: "" }, await get("/whoami"));
	return me;
}

export function source(path) {
	return new EventSource(BASE + path);
}

export const ref = (id, more = "") =>
    `/sessions/${encodeURIComponent(id)}${more}`;
