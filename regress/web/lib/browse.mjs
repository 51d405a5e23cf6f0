// SPDX-License-Identifier: ISC
// Runs the tests of one script in a browser: node browse.mjs SCRIPT
// Every result is one line of JSON on the standard output.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, need } from "./modules.mjs";

const URL_BASE = process.env.WEB_URL;
const ONLY = process.env.DL_ONLY ?? "";
// generous: a busy machine is no failure
const WAIT_MS = Number(process.env.WEB_WAIT_MS ?? 120000);
// One test; no step of it waits for longer than WAIT_MS, but evaluate() does.
const TEST_MS = WAIT_MS * 6;
const SHOTS = process.env.WEB_SHOTS;	// a directory for pictures
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic",
	"--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync",
	"--disable-background-timer-throttling"];
// Drivers of graphics say what costs them time.
const HARMLESS = /GL Driver Message|GPU stall|WebGL.*context/i;

const axe = fs.readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");

function say(o) {
	process.stdout.write(JSON.stringify(o) + "\n");
}

export function ok(good, name, detail) {
	say({ ok: Boolean(good), name, ...(detail !== undefined &&
	    { detail: typeof detail === "string" ? detail :
	    JSON.stringify(detail, null, 1) }) });
	return Boolean(good);
}

function eq(got, want, name) {
	return ok(JSON.stringify(got) === JSON.stringify(want), name,
	    { got, want });
}

// Waits for a true value of f() and returns it, or the last one.
export async function until(f, seconds = WAIT_MS / 1000) {
	const end = Date.now() + seconds * 1000;

	for (;;) {
		const v = await f();

		if (v || Date.now() > end)
			return v;
		await new Promise((r) => setTimeout(r, 50));
	}
}

// A browser that never answers must not keep the other tests from being run.
function within(ms, promise, what) {
	let timer;
	const late = new Promise((_, refuse) => {
		timer = setTimeout(() => refuse(new Error(`${what}: no end ` +
		    `after ${ms / 1000} s`)), ms);
	});

	return Promise.race([promise, late]).finally(() =>
	    clearTimeout(timer));
}

class Tools {
	constructor(browser, dir) {
		Object.assign(this, { browser, dir, launch, ok, eq, until,
		    base: URL_BASE, troubles: [], foreign: [], state: null,
		    expected: [] });
	}

	watch(page) {
		page.on("console", (m) => {
			if (m.type() === "error" && !HARMLESS.test(m.text()) &&
			    !this.expected.some((re) => re.test(m.text())))
				this.troubles.push(m.text());
		});
		page.on("pageerror", (e) => this.troubles.push(e.stack));
		page.on("request", (r) => {
			const u = new URL(r.url());

			if (/^(http|ws)/.test(u.protocol) &&
			    u.hostname !== "127.0.0.1")
				this.foreign.push(r.url());
		});
	}

	// A new person at a browser: their own cookies, unless they are logged in.
	async page({ login = true, base = URL_BASE, browser = this.browser,
	    ...more } = {}) {
		const context = await browser.newContext({
			viewport: { width: 1280, height: 800 }, baseURL: base,
			...(login && { storageState: this.state }), ...more });
		const page = await context.newPage();

		page.setDefaultTimeout(WAIT_MS);
		this.watch(page);
		return page;
	}

	async logIn() {
		const page = await this.page({ login: false });

		await page.goto("/login#" + process.env.WEB_KEY);
		await page.waitForSelector(".toolbar");
		this.state = await page.context().storageState();
		this.csrf = (await this.call("GET", "/whoami", null, page))
		    .data.csrf;
		this.api = page;
	}

	// A request as the page's own user makes it.
	async call(method, where, body, page = this.api) {
		const r = await page.request.fetch("/api/v1" + where, { method,
		    headers: { Origin: URL_BASE, "X-CSRF-Token":
			this.csrf ?? "" }, ...(body && { data: body }) });
		const words = await r.text();

		try {
			return { status: r.status(), ...JSON.parse(words) };
		} catch {
			return { status: r.status(), words };
		}
	}

	async upload(file, name) {
		const r = await this.call("POST", "/sessions",
		    fs.readFileSync(file));

		if (!r.data)
			throw new Error(JSON.stringify(r));
		if (name)
			await this.call("PUT", `/sessions/${r.data.id}/name`,
			    { name });
		return r.data.id;
	}

	// A command on a terminal, running.
	async terminal(argv, more = {}) {
		const r = await this.call("POST", "/sessions", { argv,
		    tty: true, cols: 80, rows: 24, ...more });

		if (!r.data)
			throw new Error(JSON.stringify(r));
		await this.call("POST", `/sessions/${r.data.id}/start`,
		    { tty: true });
		return r.data.id;
	}

	helper(name) {
		return path.join(process.env.WEB_HELPERS, name);
	}

	async shot(page, name) {
		if (SHOTS)
			await page.screenshot({ path:
			    path.join(SHOTS, name + ".png") });
	}

	// No rule of axe is broken on what is shown.
	async clean(page, name) {
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() =>
		    globalThis.axe.run(document, { runOnly: ["wcag2a",
			"wcag2aa", "wcag21a", "wcag21aa", "wcag22aa",
			"best-practice"] }));

		return ok(violations.length === 0, `${name}: axe is content`,
		    violations.map((v) => [v.id, v.help,
		    v.nodes.map((n) => n.html.slice(0, 200))]));
	}

	// Removes every session, so that the next test begins anew.
	async tidy() {
		const r = await this.call("GET", "/sessions");

		for (const s of r.data ?? []) {
			if (s.state === "RUNNING" || s.state === "DEBUGGING")
				await this.call("POST",
				    `/sessions/${s.id}/kill`);
			await this.call("DELETE", `/sessions/${s.id}`);
		}
	}
}

async function one(t, name, f) {
	const seen = t.troubles.length, elsewhere = t.foreign.length;
	const had = new Set(t.browser.contexts());

	t.expected = [];
	try {
		await within(TEST_MS, f(t), name);
	} catch (e) {
		ok(false, `${name} ran to its end`, e.stack);
		for (const c of t.browser.contexts())
			if (!had.has(c))
				for (const p of c.pages())
					await within(WAIT_MS, t.shot(p,
					    "failed-" + name), "a picture")
					    .catch(() => {});
	}
	for (const c of t.browser.contexts())
		if (!had.has(c))
			await within(WAIT_MS * 2, c.close(), "closing a window")
			    .catch((e) => ok(false, name, e.stack));
	await t.tidy();
	eq(t.troubles.slice(seen), [], `${name}: no errors in the console`);
	eq(t.foreign.slice(elsewhere), [],
	    `${name}: no request to other hosts`);
}

// A browser that keeps what it has to itself.
export async function launch(dir, flags = []) {
	return chromium.launch({ args: [...FLAGS, ...flags], headless: true,
	    executablePath: "/usr/bin/chromium", env: { ...process.env,
		HOME: dir, XDG_CONFIG_HOME: dir, XDG_CACHE_HOME: dir } });
}

async function main(script) {
	const { tests } = await import(pathToFileURL(path.resolve(
	    import.meta.dirname ?? path.dirname(process.argv[1]), "..",
	    "scripts", script)));
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "dl-browser-"));
	const browser = await launch(dir);

	try {
		const t = new Tools(browser, dir);

		await t.logIn();
		await t.tidy();
		for (const [name, f] of Object.entries(tests))
			if (name.includes(ONLY))
				await one(t, name, f);
	} finally {
		await within(WAIT_MS * 2, browser.close(), "closing the browser")
		    .catch((e) => ok(false, script, e.stack));
		fs.rmSync(dir, { recursive: true, force: true });
	}
	say({ done: true });
	// whatever hangs still
	process.exit(0);
}

await main(process.argv[2]);
