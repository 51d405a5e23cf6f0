// SPDX-License-Identifier: ISC
// The sessions that one may see, as the daemon tells of them.
import { get, ref, source, whoAmI } from "./api.js";

const SAMPLES = 40;
const SAMPLE_MS = 2000;		// the daemon's, of what sessions use
const QUIET_MS = 4500;
const HIDDEN_MS = 20000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000, 15000];

export const sessions = new Map();
export const usage = new Map();	// id: { cpu, memory, history }
export const link = { up: false, since: Date.now() };

const listeners = new Set();
let events = null, tries = 0, timer = 0, asked = false, fresh = null;

// f(id), or f(null) when everything may be different.  Returns the way out.
export function watch(f) {
	listeners.add(f);
	return () => listeners.delete(f);
}

function tell(id) {
	for (const f of listeners)
		f(id);
}

// What happens in one turn is told in one frame.
const changed = new Set();

function changedOne(id) {
	changed.add(id);
	if (asked)
		return;
	asked = true;
	requestAnimationFrame(() => {
		const ids = [...changed];

		changed.clear();
		asked = false;
		if (ids.includes(null) || ids.length > 50)
			tell(null);
		else
			ids.forEach(tell);
	});
}

function onSession(s) {
	sessions.set(s.id, s);
	fresh?.add(s.id);
	if (s.state !== "RUNNING" && s.state !== "DEBUGGING")
		usage.delete(s.id);
	changedOne(s.id);
}

function onGone({ id }) {
	sessions.delete(id);
	usage.delete(id);
	changedOne(id);
}

function push(u, cpu) {
	u.history.push(cpu);
	if (u.history.length > SAMPLES)
		u.history.shift();
}

function onUsage({ id, cpu_ns: ns, memory, at_ms: at }) {
	const u = usage.get(id) ?? { cpu: null, history: [] };

	// a new run begins to count anew
	if (ns !== null && u.ns !== undefined && ns >= u.ns && at > u.at) {
		u.cpu = (ns - u.ns) / 1e6 / (at - u.at) * 100;
		push(u, u.cpu);
	}
	if (ns !== null)
		u.ns = ns;
	Object.assign(u, { at, memory, heard: performance.now() });
	usage.set(id, u);
	changedOne(id);
}

// What has not changed is not told: after a while, nothing was used.
setInterval(() => {
	const now = performance.now();

	for (const [id, u] of usage) {
		const rested = now - u.heard - SAMPLE_MS;

		if (!link.up || u.ns === undefined ||
		    rested < QUIET_MS - SAMPLE_MS)
			continue;
		u.at += rested;
		u.heard += rested;
		u.cpu = 0;
		push(u, 0);
		changedOne(id);
	}
}, SAMPLE_MS);

// All follow anew: what does not come again within a moment has gone.
function onReset() {
	const seen = fresh = new Set();

	setTimeout(() => {
		if (fresh !== seen)
			return;
		fresh = null;
		for (const id of sessions.keys())
			if (!seen.has(id))
				onGone({ id });
		changedOne(null);
	}, 1000);
}

function setLink(up) {
	if (link.up === up)
		return;
	Object.assign(link, { up, since: Date.now() });
	tell(null);
}

const HANDLERS = { session: onSession, gone: onGone, usage: onUsage,
    reset: onReset };

async function again() {
	clearTimeout(timer);
	timer = setTimeout(async () => {
		try {
			// says as well when we are logged in no more
			await whoAmI();
			connect();
		} catch (e) {
			if (e.status !== 401)
				again();
		}
	}, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
}

export function connect() {
	disconnect();
	const es = events = source("/events");

	for (const [name, f] of Object.entries(HANDLERS))
		es.addEventListener(name, (e) => f(JSON.parse(e.data)));
	es.onopen = () => {
		tries = 0;
		setLink(true);
	};
	es.onerror = () => {
		setLink(false);
		// else the browser tries again itself, and says where it was
		if (es.readyState === EventSource.CLOSED)
			again();
	};
}

// A browser has few connections for all its tabs: those that nobody looks at
// give theirs back after a while.
export function whileSeen(begin, end) {
	let timer = 0, gone = false;
	const on = () => {
		clearTimeout(timer);
		if (document.hidden)
			timer = setTimeout(() => {
				gone = true;
				end();
			}, HIDDEN_MS);
		else if (gone) {
			gone = false;
			begin();
		}
	};

	document.addEventListener("visibilitychange", on);
	return () => {
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", on);
	};
}

let wasUp = false;

whileSeen(() => wasUp && connect(), () => {
	wasUp = events !== null;
	disconnect();
});

export function disconnect() {
	clearTimeout(timer);
	events?.close();
	events = null;
}

export function forget() {
	disconnect();
	sessions.clear();
	usage.clear();
	Object.assign(link, { up: false });
}

// One of which no event has told yet: it was made a moment ago, or is called by
// its name or the beginning of its id.  Its id, or null if there is none.
export async function know(id) {
	if (sessions.has(id))
		return id;
	try {
		const s = await get(ref(id));

		if (!sessions.has(s.id))
			onSession(s);
		return s.id;
	} catch (e) {
		if (e.status === 404)
			return null;
		throw e;
	}
}

// The first look, before events come.
export async function load() {
	for (const s of await get("/sessions"))
		sessions.set(s.id, s);
	changedOne(null);
}
