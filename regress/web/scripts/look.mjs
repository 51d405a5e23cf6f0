// SPDX-License-Identifier: ISC
// Every view in every light and width: nothing overflows, axe is content, and
// what is loaded is small and comes from here.
import { Network } from "../lib/proxy.mjs";

// 320: a screen of 1280 at 400 %; 720: a small one at 200 %
const SIZES = [[320, 640], [720, 450], [1280, 800], [2560, 1440]];
const MAX_GZIP = 250 * 1024;

async function some(t) {
	const run = await t.upload(t.helper("sleeper"), "sensor-sim");
	const failed = await t.call("POST", "/sessions", { argv: ["/bin/sh",
	    "-c", "printf '\\033[32mok\\033[0m all is well\\n'; exit 3"] });
	const term = await t.terminal(["/bin/sh"], { name: "build-shell" });

	await t.call("POST", `/sessions/${run}/start`);
	await t.call("POST", `/sessions/${failed.data.id}/start`);
	await t.upload(t.helper("hello"), "motor-controller-of-the-east-wing");
	return { run, failed: failed.data.id, term };
}

const ready = { sessions: "tbody tr:nth-child(4)", session: ".lines",
    failed: ".ending", terminal: ".termview[data-live=yes]",
    host: ".quota", login: "input[name=token]" };

async function views(t) {
	const ids = await some(t);
	const all = { sessions: "/", session: "/session/" + ids.run,
	    failed: "/session/" + ids.failed,
	    terminal: "/terminal/" + ids.term, host: "/host",
	    login: "/login" };

	for (const colorScheme of ["dark", "light"])
		for (const [width, height] of SIZES) {
			const page = await t.page({ colorScheme,
			    viewport: { width, height } });

			for (const [name, path] of Object.entries(all))
				await look(t, page, name, path,
				    `${name} ${width} ${colorScheme}`);
			await page.context().close();
		}
}

// A narrow window without a connection: what else stands above stays there.
async function broken(t) {
	const net = await new Network(t.base).begin();
	const page = await t.page({ login: false, base: net.base,
	    viewport: { width: 320, height: 640 } });

	await page.context().addCookies(t.state.cookies);
	await page.goto("/host");
	await page.locator(".quota").first().waitFor();
	t.expected = [/ERR_|Failed to load/];
	net.cut();
	await page.getByText("no connection").waitFor();
	await t.clean(page, "no connection 320");
	const out = await page.evaluate(() => [...document.querySelectorAll(
	    ".top a, .top button")].filter((el) => {
		const r = el.getBoundingClientRect();

		return getComputedStyle(el).display !== "none" &&
		    (r.width < 24 || r.right > innerWidth);
	}).map((el) => el.outerHTML));

	t.eq(out, [], "no connection 320: all that can be done is in sight");
	await t.shot(page, "no-connection");
	net.end();
}

// Whatever colours a program combines, what it writes can be read.
async function combined(t) {
	const pairs = ["31;7", "93;7", "7", "37;44;7", "30", "97", "90",
	    "34;41", "48;2;255;255;255", "48;2;0;0;0", "48;5;226",
	    "31;48;2;255;255;255", "97;48;2;250;250;250", "7;38;2;255;255;0",
	    "7;38;5;17", "38;5;16;48;5;226", "38;2;255;255;255;48;2;0;0;0",
	    "7;48;5;226", "2;48;5;226"];

	for (let fg = 0; fg < 8; fg++)
		for (let bg = 0; bg < 8; bg++)
			pairs.push(`3${fg};4${bg}`, `9${fg};10${bg}`);
	const { data: { id } } = await t.call("POST", "/sessions", { argv:
	    ["/bin/sh", "-c", 'for c; do printf "\\033[${c}m$c\\033[0m\\n";' +
	    " done", "sh", ...pairs] });

	await t.call("POST", `/sessions/${id}/start`);
	for (const colorScheme of ["dark", "light"]) {
		const page = await t.page({ colorScheme,
		    viewport: { width: 1280, height: 3600 } });

		await page.goto("/session/" + id);
		await page.locator(".line", { hasText: pairs.at(-1) })
		    .waitFor();
		await t.clean(page, "colours " + colorScheme);
		await t.shot(page, "colours-" + colorScheme);
		await page.context().close();
	}
}

async function look(t, page, name, path, said) {
	await page.goto(path);
	await page.locator(ready[name]).first().waitFor();
	// charts begin with their second sample
	await page.waitForTimeout(process.env.WEB_SHOTS ? 2500 : 100);
	await t.clean(page, said);
	t.eq(await page.evaluate(() => Math.max(0,
	    document.documentElement.scrollWidth - innerWidth)), 0,
	    `${said}: nothing is too wide`);
	t.eq(await page.evaluate(() => [...document.querySelectorAll(
	    ".tablebox:has(.sessions)")].map((el) => el.scrollWidth -
	    el.clientWidth).filter((n) => n > 0)), [],
	    `${said}: no action is out of sight`);
	t.eq(await page.evaluate(() => [...document.querySelectorAll("*")]
	    .flatMap((el) => [...el.childNodes]).filter((n) => n.nodeType ===
	    Node.TEXT_NODE && /^(false|true|null|undefined|NaN)$/.test(
	    n.data.trim())).length), 0, `${said}: nothing that is no word`);
	t.eq(await page.evaluate(() => [document.title !== "",
	    document.querySelectorAll("h1").length,
	    document.querySelectorAll("main").length]), [true, 1, 1],
	    `${said}: a title, one heading, one main part`);
	await t.shot(page, said.replaceAll(" ", "-"));
}

async function weight(t) {
	const page = await t.page();
	const id = await t.terminal(["/bin/cat"]);
	const seen = new Map();

	page.on("response", async (r) => {
		const u = new URL(r.url());

		if (u.pathname.startsWith("/api/"))
			return;
		const { responseBodySize } = await r.request().sizes();

		seen.set(u.pathname, responseBodySize);
	});
	await page.goto("/terminal/" + id);
	await page.locator(".termview[data-live=yes]").waitFor();
	const sum = [...seen.values()].reduce((a, b) => a + b, 0);

	t.ok(seen.size >= 4 && sum > 10000 && sum <= MAX_GZIP,
	    `all files together are ${sum} bytes, at most ${MAX_GZIP}`,
	    [...seen]);
	const again = await page.request.get("/app.js");
	const etag = again.headers().etag;
	const r = await page.request.get("/app.js",
	    { headers: { "If-None-Match": etag } });

	t.eq(r.status(), 304, "what has not changed is not sent again");
}

async function policy(t) {
	const page = await t.page();
	const r = await page.goto("/");
	const csp = r.headers()["content-security-policy"];

	t.ok(/default-src 'none'/.test(csp) && !/unsafe|\*|data:.*script/
	    .test(csp), "the policy allows no inline script or style", csp);
	t.expected = [/Content Security Policy|Refused/];
	const ran = await page.evaluate(() => {
		const s = document.createElement("script");

		s.textContent = "globalThis.ran = true";
		document.body.append(s);
		return globalThis.ran === true;
	});

	t.eq(ran, false, "and none is run");
}

async function lights(t) {
	const page = await t.page({ colorScheme: "dark" });
	const dark = () => page.evaluate(() =>
	    getComputedStyle(document.body).backgroundColor);

	await page.goto("/");
	await page.waitForSelector(".user button");
	const was = await dark();

	await page.getByRole("button", { name: /^Colours: system/ }).click();
	const light = await dark();

	t.ok(was !== light, "one button changes dark to light", [was, light]);
	await page.reload();
	await page.waitForSelector(".user button");
	t.eq(await dark(), light, "which is kept");
	await page.getByRole("button", { name: /^Colours: light/ }).click();
	await page.getByRole("button", { name: /^Colours: dark/ }).click();
	await page.emulateMedia({ colorScheme: "light" });
	t.eq(await dark(), light, "or follows the system");
}

// A browser gets a page that says so, a program what programs read.
async function nowhere(t) {
	const page = await t.page();

	t.expected = [/status of 404/];
	for (const path of ["/nowhere", "/hosts", "/session/a/b",
	    "/session/%zz"]) {
		const r = await page.goto(path);

		// an address of a view is answered before its id is looked at
		t.eq(r.status(), path.includes("%") ? 200 : 404,
		    `${path}: the status`);
		await page.getByRole("heading",
		    { name: "There is no such view" }).waitFor();
		t.eq(await page.locator("nav [aria-current]").count(), 0,
		    "none of the views is where one is");
	}
	await t.clean(page, "no such view");
	await t.shot(page, "no-such-view");
	await page.getByRole("link", { name: "To the sessions" }).click();
	await page.getByRole("heading", { name: "Sessions" }).waitFor();
	t.ok(true, "there is a way on");
	for (const [path, accept] of [["/nowhere", "*/*"],
	    ["/nowhere", "application/json"], ["/nowhere.js", "*/*"],
	    ["/api", "text/html"], ["/api/v1/nowhere", "text/html"],
	    ["/api/v1/sessions/x/nowhere", "text/html"]]) {
		const r = await page.request.get(path,
		    { headers: { Accept: accept } });

		t.eq([r.status(), (await r.json()).error?.code],
		    [404, "not_found"], `${path} for ${accept}: as JSON`);
	}
	const post = await page.request.post("/nowhere",
	    { headers: { Accept: "text/html" } });

	t.eq([post.status(), (await post.json()).error.code],
	    [404, "not_found"], "a page is there to be read alone");
}

export const tests = { nowhere, broken, combined, views, weight, policy, lights };
