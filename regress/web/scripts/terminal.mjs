// SPDX-License-Identifier: ISC
// Terminals in the page: shared, cut, stalled, read-only, resized.
import { Network } from "../lib/proxy.mjs";
import { WebSocket } from "../lib/modules.mjs";

const SHELL = ["/bin/bash", "--norc", "--noprofile"];
const PROMPT = "PS1=lantern:; ";

// What stands on the screen and above it, line by line.
export const textOf = (page) => page.evaluate(() => {
	const term = document.querySelector(".screen").terminal;
	const b = term.buffer.active, out = [];

	for (let i = 0; i < b.length; i++)
		out.push(b.getLine(i).translateToString(true));
	return out.join("\n").trimEnd();
});

export async function attach(t, id, { page, fragment = "", ...more } = {}) {
	const p = page ?? await t.page(more);

	await p.goto(`/terminal/${id}${fragment}`);
	await p.locator(".termview[data-live=yes]").waitFor();
	await p.locator(".xterm-helper-textarea").focus();
	return p;
}

export async function shows(t, page, words, name, seconds) {
	const good = await t.until(async () => {
		const now = await textOf(page);

		return typeof words === "string" ? now.includes(words) :
		    words.test(now);
	}, seconds);

	return t.ok(good, name, good ? undefined :
	    (await textOf(page)).slice(-600));
}

async function types(t) {
	const id = await t.terminal(SHELL);
	const page = await attach(t, id);

	await page.keyboard.type(PROMPT + "echo $((6*7)) äöü 🏮 日本\n");
	await shows(t, page, "42 äöü 🏮 日本", "what is typed is run, in UTF-8");
	await page.keyboard.type("printf '\\377\\200 8-bit\\n'\n");
	await shows(t, page, /^\S* 8-bit$/m,
	    "octets that are no UTF-8 do no harm");
	// bash itself would take ^C between the two, and begin the second
	await page.keyboard.type(
	    "sh -c 'echo $((1+1))begun; exec sleep 100'\n");
	await shows(t, page, /^2begun$/m, "a command runs");
	await page.keyboard.press("Control+c");
	await page.keyboard.type("echo back\n");
	await shows(t, page, /^back$/m, "^C interrupts");
	await page.keyboard.type("printf '\\e]0;<b>title</b>\\a'\n");
	await page.locator(".title", { hasText: "<b>title</b>" }).waitFor();
	t.ok(true, "a title is text");
	await t.clean(page, "terminal");
	await t.shot(page, "terminal");
}

async function fromTheList(t) {
	const page = await t.page();

	await page.goto("/");
	await page.getByRole("button", { name: "Terminal" }).click();
	await page.locator(".termview[data-live=yes]").waitFor();
	await page.keyboard.type("echo shell-$((1+1))\n");
	await shows(t, page, "shell-2", "one button opens a shell");
	await page.keyboard.type("exit 3\n");
	await page.locator(".banner", { hasText: "exit code 3" }).waitFor();
	t.ok(true, "the end is told in words");
	await page.getByRole("button", { name: "Run it again" }).click();
	await page.locator(".termview[data-live=yes]").waitFor();
	await page.keyboard.type("echo again-$((1+2))\n");
	await shows(t, page, "again-3", "and it can be run again");
}

async function commands(t) {
	const page = await t.page();

	await page.goto("/");
	await page.getByRole("button", { name: "Command …" }).click();
	const dialog = page.getByRole("dialog");

	await dialog.getByLabel("Command").fill(
	    "/bin/sh -c 'echo in $PWD as $WHO; cat'");
	await dialog.getByLabel("Name").fill("my-command");
	await dialog.getByLabel("Working directory").fill("/usr");
	await dialog.getByRole("button", { name: "Add a variable" }).click();
	await dialog.getByLabel("variable", { exact: true }).fill("WHO");
	await dialog.getByLabel("value", { exact: true }).fill("me");
	await t.clean(page, "command dialog");
	await t.shot(page, "command");
	await dialog.getByRole("button", { name: "Start" }).click();
	await page.locator(".termview[data-live=yes]").waitFor();
	await shows(t, page, "in /usr as me", "a command with all its choices");
	t.eq(await page.locator("h1").textContent(), "my-command",
	    "under its name");
}

async function two(t) {
	const id = await t.terminal(SHELL);
	const a = await attach(t, id);
	const b = await attach(t, id, { viewport: { width: 900,
	    height: 500 } });

	await a.keyboard.type(PROMPT + "echo from-$((1))\n");
	await shows(t, b, "from-1", "what one types, the other sees");
	await b.keyboard.type("echo from-$((2))\n");
	await shows(t, a, "from-2", "and the other way round");
	t.ok(await t.until(async () => await a.locator(".people li").count() ===
	    2, 10), "both see who is there");
	const size = (p) => p.evaluate(() => {
		const { cols, rows } = document.querySelector(".screen")
		    .terminal;

		return `${cols} × ${rows}`;
	});

	t.ok(await t.until(async () => await size(a) === await size(b)),
	    "both have the size of who typed last",
	    [await size(a), await size(b)]);
	t.ok(await a.locator(".size.other").isVisible(),
	    "the page says that the size is another's");
	await a.locator(".size").click();
	await a.locator(".size:not(.other)").waitFor();
	t.ok(true, "and takes its own back by a button");
	// a question of a program: one answer, not two
	await a.keyboard.type("stty -echo; printf '\\e[c'; read -rd c x; " +
	    "read -rt 1 -d c y; stty echo; " +
	    "printf 'answers%q\\n' \"$y\"\n");
	await shows(t, a, /^answers''$/m,
	    "one of two terminals answers a program");
}

async function stalled(t) {
	const id = await t.terminal(SHELL);
	const url = `${t.base.replace("http", "ws")}/api/v1/pty/sessions/` +
	    `${id}/attach?cols=80&rows=24`;
	const cookie = t.state.cookies.map((c) => `${c.name}=${c.value}`)
	    .join("; ");
	const ws = new WebSocket(url, ["lantern.bin.v1"],
	    { headers: { Cookie: cookie, Origin: t.base } });

	await new Promise((resolve, reject) => {
		ws.on("open", resolve);
		ws.on("error", reject);
	});
	ws._socket.pause();
	const page = await attach(t, id);
	const begun = Date.now();

	await page.keyboard.type("seq 1 300000; echo done-$((3))\n");
	await shows(t, page, "done-3", "one who does not read stalls nobody",
	    60);
	t.ok((await textOf(page)).includes("\n300000\n"),
	    `every line is there (${Date.now() - begun} ms)`);
	ws.terminate();
}

async function cut(t) {
	const id = await t.terminal(SHELL);
	const net = await new Network(t.base).begin();
	const first = await t.page({ login: false, base: net.base });
	const state = structuredClone(t.state);

	await first.context().addCookies(state.cookies);
	const page = await attach(t, id, { page: first });

	await page.keyboard.type(PROMPT + "echo before\n");
	await shows(t, page, /^before$/m, "attached through a network");
	t.expected = [/WebSocket|ERR_|Failed to load/];
	net.cut();
	await page.locator(".banner", { hasText: "connection is lost" })
	    .waitFor();
	const other = await attach(t, id);

	await other.keyboard.type("echo meanwhile\n");
	await shows(t, other, /^meanwhile$/m, "the program goes on meanwhile");
	net.mend();
	await shows(t, page, /^meanwhile$/m, "what was missed is caught up");
	const all = await textOf(page);

	t.eq([all.match(/^before$/gm)?.length,
	    all.match(/^meanwhile$/gm)?.length], [1, 1], "once each");
	await page.locator(".xterm-helper-textarea").focus();
	await page.keyboard.type("echo after\n");
	await shows(t, page, /^after$/m, "and one types on");
	net.end();
}

// More is written than the daemon holds while a page has no connection.
async function saysWhatWasLeftOut(t) {
	const id = await t.terminal(["/bin/sh", "-c",
	    "echo before; read x; head -c 3000000 /dev/zero | " +
	    "tr '\\0' '\\r'; echo the end; exec cat"]);
	const net = await new Network(t.base).begin();
	const page = await t.page({ login: false, base: net.base });

	await page.context().addCookies(t.state.cookies);
	await attach(t, id, { page });
	await shows(t, page, /^before$/m, "attached through a network");
	t.expected = [/WebSocket|ERR_|Failed to load/];
	net.cut();
	await page.locator(".banner", { hasText: "connection is lost" })
	    .waitFor();
	const other = await attach(t, id);

	await other.keyboard.press("Enter");
	await shows(t, other, /^the end$/m, "more is written than is held", 60);
	t.ok(!(await textOf(other)).includes("left out"),
	    "a page that keeps up is told of nothing");
	net.mend();
	await shows(t, page, /^the end$/m, "the end comes");
	const all = (await textOf(page)).split("\n");
	const at = all.findIndex((l) => /were left out/.test(l));

	t.ok(at >= 0 && /^ \d\.\d MB were left out: this page or its connection could/
	    .test(all[at]), "how much is missing is said, and why",
	    all.slice(0, 5));
	t.ok(all.indexOf("the end") > at, "in the place of what is missing",
	    all.slice(0, 8));
	net.end();
}

// A run that somebody else has started is shown as one, whoever looks on.
async function nextRun(t) {
	const id = await t.terminal(["/bin/sh", "-c",
	    "echo run=$(date +%s%N); seq 1 2000; exec cat"]);
	const net = await new Network(t.base).begin();
	const away = await t.page({ login: false, base: net.base });
	const runs = async (p) => (await textOf(p)).match(/run=\d+/g);

	await away.context().addCookies(t.state.cookies);
	await attach(t, id, { page: away });
	const near = await attach(t, id);

	await shows(t, away, /^2000$/m, "two look");
	await shows(t, near, /^2000$/m, "at the same");
	const before = await runs(near);

	t.expected = [/WebSocket|ERR_|Failed to load/];
	net.cut();
	await away.locator(".banner", { hasText: "connection is lost" })
	    .waitFor();
	await t.call("POST", `/sessions/${id}/kill`);
	await near.locator(".banner", { hasText: "SIGKILL" }).waitFor();
	await t.call("POST", `/sessions/${id}/start`, { tty: true });
	t.ok(await t.until(async () => {
		const now = await runs(near);

		return now?.length === 1 && now[0] !== before[0];
	}, 20), "who has seen the end sees the next run", await runs(near));
	t.eq(await near.locator(".banner").isVisible(), false,
	    "and is not told of an end any more");
	net.mend();
	t.ok(await t.until(async () => JSON.stringify(await runs(away)) ===
	    JSON.stringify(await runs(near)), 30),
	    "so does who was away, from its beginning", await runs(away));
	await near.locator(".xterm-helper-textarea").focus();
	await near.keyboard.type("typed\n");
	await shows(t, away, /^typed$/m, "and one types on");
	net.end();
}

async function links(t) {
	const id = await t.terminal(SHELL);
	const owner = await attach(t, id);

	await owner.getByRole("button", { name: "Share by a link" }).click();
	const dialog = owner.getByRole("dialog");

	await dialog.getByRole("button", { name: "Make a link" }).click();
	const code = dialog.locator(".copyline code");

	await code.waitFor();
	const ro = await code.textContent();

	await dialog.getByLabel("who has the link").selectOption("rw");
	await t.until(async () => /#dls_/.test(await code.textContent()));
	const rw = await code.textContent();

	await t.clean(owner, "share dialog");
	await t.shot(owner, "share");
	t.ok(/#dlv_/.test(ro), "a link to look");
	await owner.keyboard.press("Escape");
	t.expected = [/status of 401/];
	const looker = await attach(t, id, { login: false,
	    fragment: new URL(ro).hash });

	t.ok(!looker.url().includes("dlv_"), "the key leaves the address");
	await looker.keyboard.type("echo looked\n");
	const writer = await attach(t, id, { login: false,
	    fragment: new URL(rw).hash });

	await writer.keyboard.type("echo wrote-$((5))\n");
	await shows(t, looker, "wrote-5", "who may look sees");
	t.ok(!(await textOf(owner)).includes("looked"), "and types nothing");
	t.ok(await looker.locator(".tag", { hasText: "read-only" })
	    .isVisible(), "which the page says");
	t.eq(await looker.locator("nav").isVisible(), false,
	    "a guest is offered nothing else");
	await looker.reload();
	await looker.locator(".termview[data-live=yes]").waitFor();
	await shows(t, looker, "wrote-5", "a link outlives a reload");
	await t.clean(looker, "a guest's terminal");
	await owner.getByRole("button", { name: "Share by a link" }).click();
	t.expected = [/status of 409/, /status of 401/, /WebSocket/];
	await owner.getByRole("button", { name: "Make a link" }).click();
	await owner.getByRole("button", { name: "Make new links" }).click();
	await owner.locator(".copyline code").waitFor();
	const late = await t.page({ login: false });

	await late.goto(`/terminal/${id}${new URL(ro).hash}`);
	await late.locator(".banner", { hasText: /\w/ }).waitFor();
	t.ok((await textOf(late)) === "", "new links end the old ones");
}

// The owner looks by their own link, and is the owner again afterwards.
async function ownLink(t) {
	const id = await t.terminal(SHELL);
	const keys = (await t.call("POST", `/pty/sessions/${id}/keys`, {}))
	    .data;
	const ro = keys.readOnlyToken ?? keys.read_only_token;
	const page = await attach(t, id, { fragment: "#" + ro });

	await page.locator(".tag", { hasText: "read-only" }).waitFor();
	t.ok(true, "a link to look is one for its maker, too");
	await page.getByRole("link", { name: "Sessions" }).click();
	await page.locator("a.name").click();
	await page.locator(".termview[data-live=yes]").waitFor();
	await page.locator(".xterm-helper-textarea").focus();
	await page.keyboard.type("echo own-$((3))\n");
	await shows(t, page, "own-3", "from the list they type again", 20);
}

async function pastes(t) {
	const id = await t.terminal(["/bin/cat", "-v"]);
	const page = await attach(t, id);
	const paste = (words) => page.evaluate((w) => {
		const data = new DataTransfer();

		data.setData("text/plain", w);
		document.querySelector(".xterm-helper-textarea")
		    .dispatchEvent(new ClipboardEvent("paste",
		    { clipboardData: data, bubbles: true, cancelable: true }));
	}, words);

	await paste("one\x1b[201~line\x07");
	await page.keyboard.press("Enter");
	await shows(t, page, "one[201~line", "escapes are taken out");
	t.ok(!(await textOf(page)).includes("^["), "all of them");
	await paste("rm one\nrm two\n");
	const dialog = page.getByRole("dialog");

	await dialog.waitFor();
	t.ok((await dialog.textContent()).includes("rm two"),
	    "several lines are shown first");
	await t.clean(page, "paste dialog");
	await t.shot(page, "paste");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await page.keyboard.type("typed\n");
	await shows(t, page, "typed", "after that one types on");
	t.ok(!(await textOf(page)).includes("rm one"), "and may be held back");
	await paste("rm three\nrm four\n");
	await dialog.getByRole("button", { name: "Paste" }).click();
	await shows(t, page, "rm four", "or let through");
}

// Where on the page such words stand.
const placeOf = (page, words) => page.evaluate((w) => {
	const { cols, rows, buffer: { active: b } } = document.querySelector(
	    ".screen").terminal;
	const box = document.querySelector(".xterm-screen")
	    .getBoundingClientRect();

	for (let y = rows - 1; y >= 0; y--) {
		const x = b.getLine(b.viewportY + y).translateToString(true)
		    .indexOf(w);

		if (x !== -1)
			return [box.x + (x + w.length / 2) * box.width / cols,
			    box.y + (y + .5) * box.height / rows];
	}
	return null;
}, words);

// What programs write is no way to the clipboard, nor to run anything here.
async function addresses(t) {
	const id = await t.terminal(SHELL);
	const page = await attach(t, id), context = page.context();
	const good = t.base + "/healthz";

	await context.grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.evaluate(() => navigator.clipboard.writeText("mine"));
	await page.keyboard.type(PROMPT + "clear; " +
	    "printf '\\e]52;c;dGhlaXJz\\a'; l() { printf " +
	    "'\\e]8;;%s\\e\\\\%s\\e]8;;\\e\\\\\\n' \"$1\" \"$2\"; }; " +
	    "l 'javascript:document.title=1' b''ad; " +
	    "l 'data:text/html,x' w''orse; " +
	    `l ${good} g''ood; echo see '${good}?x'; echo $((1+1))there\n`);
	await shows(t, page, /^2there$/m, "a program writes addresses");
	t.eq(await page.evaluate(() => navigator.clipboard.readText()), "mine",
	    "and leaves the clipboard alone");
	for (const words of ["bad", "worse"])
		await page.mouse.click(...await placeOf(page, words));
	for (const [words, url] of [["good", good], ["see", null],
	    [good + "?x", good + "?x"]]) {
		await page.mouse.move(1, 1);
		await page.mouse.move(...await placeOf(page, words),
		    { steps: 3 });
		if (!url)
			continue;
		if (words === "good")
			t.ok(await t.until(async () => await page.locator(
			    ".screen").getAttribute("title") === good, 10),
			    "where it leads is shown before it is followed");
		await page.locator(".xterm-cursor-pointer").waitFor();
		const [other] = await Promise.all([
		    context.waitForEvent("page"), page.mouse.down(),
		    page.mouse.up()]);

		await other.waitForURL(url);
		t.ok(await other.evaluate(() => opener === null),
		    `${words}: opens a window that knows nothing of this one`);
		await other.close();
		await page.bringToFront();
	}
	t.eq(context.pages().length, 1, "no other kind of address opens any");
	t.ok(await page.title() !== "1", "or is run");
}

async function searching(t) {
	const id = await t.terminal(["/bin/sh", "-c",
	    "seq 1 500; echo needle; seq 1 500; cat"]);
	const page = await attach(t, id);

	await page.keyboard.press("Control+Shift+F");
	await page.getByLabel("search the terminal").fill("needle");
	await page.getByText("1 of 1").waitFor();
	t.ok(true, "what has scrolled away is found");
	await t.clean(page, "search in a terminal");
	await page.keyboard.press("Escape");
	await page.keyboard.type("typed\n");
	await shows(t, page, "typed", "Escape leads back");
	await page.keyboard.press("Control+Shift+X");
	t.ok(await page.evaluate(() =>
	    document.activeElement.closest(".termbar") !== null),
	    "the keyboard can leave the terminal");
}

async function resizes(t) {
	const id = await t.terminal(SHELL);
	const page = await attach(t, id);

	await page.keyboard.type(PROMPT + "trap 'stty size' WINCH\n");
	for (let i = 0; i < 60; i++)
		await page.setViewportSize({ width: 500 + i * 13,
		    height: 400 + i % 7 * 40 });
	await page.setViewportSize({ width: 1000, height: 600 });
	const at = () => page.evaluate(() => {
		const { cols, rows } = document.querySelector(".screen")
		    .terminal;

		return `${rows} ${cols}`;
	});
	const still = await t.until(async () => {
		const a = await at();

		await new Promise((r) => setTimeout(r, 400));
		return a === await at() && a;
	});

	await page.keyboard.type("clear; stty size\n");
	await shows(t, page, still, "after many resizes all agree on one size");
}

async function mobile(t) {
	const id = await t.terminal(SHELL);
	const page = await attach(t, id, { viewport: { width: 360,
	    height: 640 }, hasTouch: true, isMobile: true });

	await page.keyboard.type(PROMPT + "sh -c 'echo $((2+2))ready; " +
	    "exec cat'\n");
	await shows(t, page, /^4ready$/m, "something runs");
	const bar = page.getByRole("toolbar", { name: "keys" });

	await bar.getByText("Ctrl", { exact: true }).tap();
	await page.keyboard.type("c");
	await page.keyboard.type("echo tapped-$((8))\n");
	await shows(t, page, "tapped-8", "a held Control of the bar");
	await bar.getByText("↑", { exact: true }).tap();
	await page.keyboard.press("Enter");
	t.ok(await t.until(async () => (await textOf(page))
	    .match(/^tapped-8$/gm)?.length === 2), "its arrows");
	t.eq(await page.evaluate(() =>
	    document.documentElement.scrollWidth > innerWidth), false,
	    "nothing is wider than the screen");
	await t.clean(page, "terminal on a telephone");
	await t.shot(page, "terminal-mobile");
}

async function flood(t) {
	const id = await t.terminal(["/bin/sh", "-c",
	    "read x; yes $(printf %079d 7) | head -c 100000000; " +
	    "echo end-$((9))"]);
	const page = await attach(t, id);
	const begun = Date.now();

	await page.keyboard.press("Enter");
	await page.locator(".banner", { hasText: "finished" }).waitFor(
	    { timeout: 180000 });
	await shows(t, page, "end-9", "100 MB go through a page");
	console.log(`100 MB in the page: ${Date.now() - begun} ms, drawn by ` +
	    await page.locator(".termview").getAttribute("data-drawn"));
}

// What the page itself has drawn: without WebGL every row is an element.
const rowsOf = (page) => page.evaluate(() => [...document.querySelectorAll(
    ".xterm-rows > div")].map((el) => el.textContent).join("\n"));

async function drawn(t, page, words, name) {
	t.ok(await t.until(async () => (await rowsOf(page)).includes(words)),
	    name, await rowsOf(page));
}

const how = (page) => page.locator(".termview").getAttribute("data-drawn");

// WebGL that is done by a program passes for hardware here.
function likeHardware() {
	const context = HTMLCanvasElement.prototype.getContext;
	const parameter = WebGL2RenderingContext.prototype.getParameter;

	HTMLCanvasElement.prototype.getContext = function get(kind, how) {
		return context.call(this, kind, how && { ...how,
		    failIfMajorPerformanceCaveat: false });
	};
	WebGL2RenderingContext.prototype.getParameter = function get(what) {
		return what === 0x9246 ? "Lantern 3000" :
		    parameter.call(this, what);
	};
}

async function draws(t) {
	const id = await t.terminal(SHELL);
	const plain = await attach(t, id);

	await plain.keyboard.type(PROMPT + "echo $((6*7))drawn\n");
	t.eq(await how(plain), "page", "without hardware the page draws");
	await drawn(t, plain, "42drawn", "what is written");
	const browser = await t.launch(t.dir, ["--use-angle=swiftshader",
	    "--enable-unsafe-swiftshader"]);

	try {
		await loses(t, id, await t.page({ browser }));
	} finally {
		await browser.close();
	}
}

async function loses(t, id, page) {
	await page.addInitScript(likeHardware);
	await attach(t, id, { page });
	t.eq(await how(page), "webgl", "with it WebGL does");
	await shows(t, page, "42drawn", "the same");
	t.expected = [/webgl/i];
	t.ok(await page.evaluate(() => {
		for (const el of document.querySelectorAll(".screen canvas")) {
			const gl = el.getContext("webgl2");

			if (gl) {
				gl.getExtension("WEBGL_lose_context")
				    .loseContext();
				return true;
			}
		}
		return false;
	}), "it is taken away");
	await page.locator(".termview[data-drawn=page]").waitFor();
	await drawn(t, page, "42drawn", "and the page draws what stood there");
	await page.keyboard.type("echo $((1+1))after\n");
	await drawn(t, page, "2after", "and what comes");
	await t.shot(page, "context-lost");
}

// An address may be old, or of something else: said once, not tried for ever.
async function refused(t) {
	const plain = await t.call("POST", "/sessions",
	    { argv: ["/bin/sleep", "1000"], name: "plain" });
	const page = await t.page();
	let tries = 0;

	t.expected = [/WebSocket|status of 40/];
	page.on("websocket", () => tries++);
	for (const [id, words] of [["nothing", /not found/],
	    [plain.data.id, /no terminal/]]) {
		tries = 0;
		await page.goto("/terminal/" + id);
		await page.locator(".banner", { hasText: words }).waitFor();
		t.eq(await page.locator(".termview").getAttribute("data-link"),
		    "over", `${words}: no more is tried`);
		t.eq(tries, 1, "than once");
		await t.clean(page, String(words));
	}
	await page.getByRole("button", { name: "Try again" }).click();
	t.ok(await t.until(() => tries === 2), "unless one asks for it");
	await page.getByRole("button", { name: "To the sessions" }).click();
	await page.locator("tbody tr").waitFor();
	t.ok(true, "there is a way on");
}

export const tests = { draws, refused, types, fromTheList, commands, two, stalled, cut,
    saysWhatWasLeftOut, nextRun, links, ownLink,
    addresses, pastes, searching, resizes, mobile, flood };
