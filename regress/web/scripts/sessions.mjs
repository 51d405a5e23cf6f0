// SPDX-License-Identifier: ISC
// The table of sessions: it lives, and everything can be done from it.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e';

const rowOf = (page, name) => page.locator("tbody tr",
    { has: page.getByText(name, { exact: true }) });

function bundle() {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "dl-bundle-"));
	const file = path.join(dir, "tools.tar.gz");

	fs.mkdirSync(path.join(dir, "bin"));
	fs.copyFileSync(path.join(process.env.WEB_HELPERS, "hello"),
	    path.join(dir, "bin/hello"));
	execFileSync("tar", ["czf", file, "-C", dir, "bin"]);
	return [dir, file];
}

async function open(t, more) {
	const page = await t.page(more);

	await page.goto("/");
	await page.waitForSelector(".toolbar");
	return page;
}

async function choose(page, files) {
	const [chooser] = await Promise.all([page.waitForEvent("filechooser"),
	    page.getByRole("button", { name: "Upload" }).first().click()]);

	await chooser.setFiles(files);
}

async function empty(t) {
	const page = await open(t);

	t.ok(await page.getByText("No sessions yet").isVisible(),
	    "an empty table says what to do");
	await t.clean(page, "no sessions");
}

async function uploads(t) {
	const page = await open(t);

	await choose(page, t.helper("sleeper"));
	const dialog = page.getByRole("dialog");

	await dialog.getByLabel("Name").fill("from-the-page");
	await dialog.getByLabel("Arguments").fill("1000 'a b'");
	await dialog.getByRole("button", { name: "Add a variable" }).click();
	await dialog.getByLabel("variable", { exact: true }).fill("COLOUR");
	await dialog.getByLabel("value", { exact: true }).fill("amber & more");
	await dialog.getByText("Limits").first().click();
	await dialog.getByLabel("open files").fill("64");
	await t.clean(page, "upload dialog");
	await t.shot(page, "upload");
	await dialog.getByRole("button", { name: "Upload" }).click();
	await page.getByRole("heading", { name: "from-the-page" }).waitFor();
	const s = (await t.call("GET", "/sessions")).data[0];

	t.eq(s.state, "RUNNING", "an uploaded program is started");
	t.eq(s.env, { COLOUR: "amber & more" }, "with its environment");
	t.ok(/^1000 .*a b/.test(s.args), "and its arguments",
	    s.args);
}

async function bundles(t) {
	const page = await open(t), [dir, file] = bundle();

	await choose(page, file);
	const dialog = page.getByRole("dialog");

	await dialog.getByText("a bundle").waitFor();
	await dialog.getByLabel("Program in the bundle").fill("bin/hello");
	await dialog.getByRole("button", { name: "Upload" }).click();
	await page.getByRole("heading", { name: "tools" }).waitFor();
	const s = (await t.call("GET", "/sessions")).data[0];

	t.eq([s.bundle, s.exec_path], [true, "bin/hello"],
	    "it is unpacked, with its program");
	fs.rmSync(dir, { recursive: true });
}

// What a drop carries: files made in the page from bytes.
async function drop(page, files) {
	const data = await page.evaluateHandle((list) => {
		const dt = new DataTransfer();

		for (const [name, b64] of list)
			dt.items.add(new File([Uint8Array.from(atob(b64),
			    (c) => c.charCodeAt(0))], name));
		return dt;
	}, files);

	await page.dispatchEvent("body", "dragenter", { dataTransfer: data });
	const seen = await page.getByText("Drop to upload").isVisible();

	await page.dispatchEvent("body", "drop", { dataTransfer: data });
	return seen;
}

async function drops(t) {
	const page = await open(t);
	const elf = fs.readFileSync(t.helper("hello")).toString("base64");

	t.ok(await drop(page, [["one", elf], ["two", elf]]),
	    "where to drop is shown");
	await page.getByRole("button", { name: "Done" }).click();
	// the dialog has the name as well, until it is gone
	await rowOf(page, "two").waitFor();
	t.eq(await page.locator("tbody tr").count(), 2,
	    "several files become several sessions");
	// letters of an id alone are no name of a session
	await drop(page, [["decade", elf]]);
	await page.getByRole("dialog").getByRole("button",
	    { name: "Upload" }).click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
	t.ok(true, "a file is taken whatever it is called");
	await page.goBack();
	t.expected = [/status of 4\d\d/];
	await drop(page, [["notes.txt", btoa("no program")]]);
	const dialog = page.getByRole("dialog");

	await dialog.getByRole("button", { name: "Upload" }).click();
	await dialog.locator(".upload.bad").waitFor();
	t.ok(/ELF/.test(await dialog.locator(".upload.bad").textContent()),
	    "what is no program is refused in words");
	await t.clean(page, "refused upload");
}

// Cancel is cancel, also while the bytes are on their way.
async function cancels(t) {
	const page = await open(t);
	const elf = fs.readFileSync(t.helper("sleeper")).toString("base64");
	const hold = async (r) => {
		if (r.request().method() === "POST")
			await new Promise((f) => setTimeout(f, 1500));
		await r.continue().catch(() => {});
	};

	t.expected = [/ERR_|Failed to load/];
	// uploads tell the name of their file
	await page.route(/\/api\/v1\/sessions(\?|$)/, hold);
	await drop(page, [["alone", elf]]);
	const dialog = page.getByRole("dialog");

	await dialog.getByRole("button", { name: "Upload" }).click();
	await dialog.locator("progress").waitFor();
	await dialog.getByRole("button", { name: "Cancel", exact: true })
	    .click();
	await drop(page, [["one", elf], ["two", elf]]);
	await dialog.locator("progress").waitFor();
	await page.keyboard.press("Escape");
	await page.waitForTimeout(4000);
	t.eq((await t.call("GET", "/sessions")).data, [],
	    "a closed dialog loads nothing, and starts nothing");
	t.eq(new URL(page.url()).pathname, "/", "nor leads anywhere");
}

// Enter is quicker than the daemon.
async function twice(t) {
	const page = await open(t);

	await page.route("**/api/v1/sessions", async (r) => {
		if (r.request().method() === "POST")
			await new Promise((f) => setTimeout(f, 500));
		await r.continue();
	});
	await page.getByRole("button", { name: "Command …" }).click();
	await page.getByRole("dialog").getByLabel("Command").fill("/bin/cat");
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("Enter");
	await page.locator(".termview[data-live=yes]").waitFor();
	t.eq((await t.call("GET", "/sessions")).data.length, 1,
	    "a form that is sent twice does one thing");
}

async function lives(t) {
	const page = await open(t);
	const id = await t.upload(t.helper("sleeper"), "other-client");
	const row = rowOf(page, "other-client");

	await row.waitFor();
	t.ok(true, "what another client loads is shown at once");
	await t.call("POST", `/sessions/${id}/start`);
	await row.getByText("running").waitFor();
	await row.locator("td.memory", { hasText: "B" }).waitFor();
	await row.locator("td.cpu", { hasText: "%" }).waitFor();
	t.ok(true, "a running one shows what it uses");
	await page.reload();
	await row.locator("td.cpu", { hasText: "0.0 %" }).waitFor();
	t.ok(true, "and one that rests, that it does");
	await t.call("POST", `/sessions/${id}/kill`);
	await row.getByText("ended by SIGKILL").waitFor();
	t.ok(await row.getByText("killed").isVisible(),
	    "how it ended is said in words");
	await t.call("DELETE", `/sessions/${id}`);
	await row.waitFor({ state: "detached" });
	t.ok(true, "a deleted one goes");
}

async function actions(t) {
	const page = await open(t);

	await t.upload(t.helper("sleeper"), "worker");
	const row = rowOf(page, "worker");

	await row.getByRole("button", { name: "Start worker" }).click();
	await row.getByText("running").waitFor();
	await row.getByRole("button", { name: "More for worker" }).click();
	await t.clean(page, "menu");
	await page.keyboard.press("End");
	await page.keyboard.press("Escape");
	t.ok(await t.until(async () => await page.locator(".menu").count() ===
	    0, 5), "Escape closes a menu");
	await row.getByRole("button", { name: "Stop worker" }).click();
	await row.getByText("ended by SIGTERM").waitFor();
	await row.getByRole("button", { name: "More for worker" }).click();
	await page.getByRole("menuitem", { name: "Delete …" }).click();
	await page.getByRole("dialog").getByRole("button",
	    { name: "Delete" }).click();
	await row.waitFor({ state: "detached" });
	t.ok(true, "start, stop and delete from the row");
}

async function several(t) {
	const page = await open(t);

	// no id has these letters in it, which would be found as well
	for (const n of ["zz-one", "zz-two", "b-three"])
		await t.upload(t.helper("sleeper"), n);
	await rowOf(page, "b-three").waitFor();
	await page.getByLabel("filter the sessions").fill("zz-");
	t.ok(await t.until(async () => await page.locator("tbody tr")
	    .count() === 2), "the filter filters");
	await page.getByLabel("select all that are shown").check();
	const bulk = page.getByRole("region", { name: "selected sessions" });

	await bulk.getByText("2 selected").waitFor();
	t.ok(true, "only what is shown is selected");
	await bulk.getByRole("button", { name: "Start" }).click();
	t.ok(await t.until(async () => await page.locator(".lampline",
	    { hasText: "running" }).count() === 2), "they start together");
	await t.clean(page, "selected");
	await t.shot(page, "selected");
	await bulk.getByRole("button", { name: "Delete" }).click();
	await page.getByRole("dialog").getByRole("button",
	    { name: "Delete" }).click();
	await page.getByText("No session is like that").waitFor();
	await page.getByRole("button", { name: "Show all" }).click();
	t.ok(await t.until(async () => await page.locator("tbody tr")
	    .count() === 1), "running ones are killed and deleted, others stay");
}

async function byKeys(t) {
	const page = await open(t);

	await t.upload(t.helper("sleeper"), "first");
	await t.upload(t.helper("sleeper"), "second");
	await rowOf(page, "second").waitFor();
	await page.keyboard.press("/");
	await page.keyboard.type("sec");
	t.eq(await page.locator("tbody tr").count(), 1, "/ filters");
	await page.keyboard.press("Tab");
	await page.keyboard.press("j");
	await page.keyboard.press("s");
	await rowOf(page, "second").getByText("running").waitFor();
	await page.keyboard.press("x");
	await page.getByText("1 selected").waitFor();
	await page.keyboard.press("?");
	await page.getByRole("heading", { name: "Keyboard" }).waitFor();
	await t.clean(page, "help");
	await page.keyboard.press("Escape");
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await page.getByRole("heading", { name: "second" }).waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("heading", { name: "Sessions" }).waitFor();
	t.ok(true, "everything goes without a mouse");
}

// What is done by a key is done to what one sees.
async function hiddenKeys(t) {
	const page = await open(t);

	for (const n of ["zz-seen", "yy-hidden"])
		await t.upload(t.helper("sleeper"), n);
	await rowOf(page, "zz-seen").waitFor();
	await rowOf(page, "yy-hidden").locator("a.name").waitFor();
	await page.getByRole("button", { name: "Session", exact: true })
	    .click();
	await page.keyboard.press("j");
	t.eq(await page.locator("tr.cursor a.name span").textContent(),
	    "yy-hidden", "the first has the cursor");
	await page.keyboard.press("/");
	await page.keyboard.type("zz-");
	await page.keyboard.press("Tab");
	await page.keyboard.press("s");
	await page.keyboard.press("x");
	await page.keyboard.press("j");
	await page.keyboard.press("s");
	await rowOf(page, "zz-seen").getByText("running").waitFor();
	t.eq((await t.call("GET", "/sessions")).data.filter((s) =>
	    s.state !== "LOADED").map((s) => s.name), ["zz-seen"],
	    "keys do nothing to what the filter hides");
	t.ok(!await page.getByRole("region", { name: "selected sessions" })
	    .isVisible(), "nor select it");
}

// The keyboard's focus stays where it is, whatever changes around it.
async function keepsFocus(t) {
	const page = await open(t);
	const id = await t.upload(t.helper("sleeper"), "worker");
	const row = rowOf(page, "worker");
	const focus = () => page.evaluate(() => document.activeElement
	    .closest("tr, .session-head") && (document.activeElement
	    .getAttribute("aria-label") ?? document.activeElement.textContent));

	await row.waitFor();
	await page.keyboard.press("j");
	await page.keyboard.press("s");
	await row.getByText("running").waitFor();
	t.eq(await focus(), "worker", "a row keeps the focus as it changes");
	await row.getByRole("button", { name: "Stop worker" }).focus();
	await page.keyboard.press("Enter");
	await row.getByText("ended by SIGTERM").waitFor();
	t.eq(await focus(), "Start worker", "and so does a button of it");
	await row.locator("a.name").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("heading", { name: "worker" }).waitFor();
	await page.getByRole("button", { name: "Start", exact: true }).focus();
	await page.keyboard.press("Enter");
	await page.locator(".pill", { hasText: "running" }).waitFor();
	t.eq(await focus(), "Stop", "and the buttons of a session");
	await page.getByRole("button", { name: "More", exact: true }).focus();
	await t.call("POST", `/sessions/${id}/kill`);
	await page.locator(".ending").waitFor();
	t.eq(await focus(), "More", "the same one, where it is still there");
}

// A daemon that is busy, or begins just now, while the page does.
async function lateAnswers(t) {
	const page = await t.page();
	let asked = 0;

	await t.upload(t.helper("hello"), "there");
	t.expected = [/status of 503/];
	await page.route("**/api/v1/whoami", (r) => asked++ < 2 ?
	    r.fulfill({ status: 503, body: "{}" }) : r.continue());
	await page.goto("/");
	await page.getByText("It is asked again").waitFor();
	t.eq(await page.getByText("No sessions yet").count(), 0,
	    "what is not known is not said");
	await rowOf(page, "there").waitFor();
	t.ok(asked === 3, "it is asked until it answers", asked);
}

// What was selected and has gone meanwhile is selected no more.
async function goneChoice(t) {
	const page = await open(t);

	for (const n of ["goes", "stays"])
		await t.upload(t.helper("hello"), n);
	await rowOf(page, "stays").waitFor();
	await page.getByLabel("select goes").check();
	const bulk = page.getByRole("region", { name: "selected sessions" });

	await bulk.getByText("1 selected").waitFor();
	await rowOf(page, "goes").locator("a.name").click();
	await page.getByRole("button", { name: "More", exact: true }).click();
	await page.getByRole("menuitem", { name: "Delete …" }).click();
	await page.getByRole("dialog").getByRole("button",
	    { name: "Delete" }).click();
	await page.getByText("There is no such session").waitFor();
	await page.getByRole("link", { name: "To the sessions" }).click();
	await rowOf(page, "stays").waitFor();
	t.ok(!await bulk.isVisible(), "a deleted session is not selected");
}

async function sorts(t) {
	const page = await open(t);

	for (const n of ["m-2", "z-3", "a-1"])
		await t.upload(t.helper("hello"), n);
	await rowOf(page, "a-1").waitFor();
	const names = () => page.locator("td.name a span").allTextContents();

	await page.getByRole("button", { name: "Session", exact: true })
	    .click();
	t.eq(await names(), ["a-1", "m-2", "z-3"], "sorted by name");
	await page.getByRole("button", { name: "Session", exact: true })
	    .click();
	t.eq(await names(), ["z-3", "m-2", "a-1"], "and the other way round");
	t.eq(await page.locator("th.name").getAttribute("aria-sort"),
	    "descending", "which is said");
}

async function hostile(t) {
	const page = await open(t);
	let alerted = false;

	page.on("dialog", (d) => {
		alerted = true;
		d.dismiss();
	});
	const id = await t.terminal(["/bin/echo", HOSTILE]);
	const turned = await t.terminal(["/bin/echo", "a\u202eb\u200fc\n\t" +
	    "d".repeat(4096)]);

	await page.locator("tbody tr").nth(1).waitFor();
	t.ok((await page.locator("tbody").textContent()).includes(
	    '"><img src=x'), "markup in a command is text");
	const plain = "/bin/echo a\\u202eb\\u200fc\\n\\tddd";

	await page.locator("a.name", { hasText: plain }).waitFor();
	t.ok(!/[\u202e\u200f]/.test(await page.content()),
	    "what would turn the line round is spelled out");
	await page.goto("/session/" + turned);
	await page.locator("h1", { hasText: plain }).waitFor();
	t.ok((await page.locator("h1").textContent()).length <= 100,
	    "a heading is short, whatever the command is");
	t.ok((await page.locator(".facts code.long").first().textContent())
	    .endsWith("d'"), "which is there as a whole");
	await t.clean(page, "a long command");
	await page.goto("/session/" + id);
	await page.locator("h1", { hasText: "img" }).waitFor();
	t.eq([alerted, await page.locator("main img").count()], [false, 0],
	    "and nothing else, on its page too");
}

// A browser whose clock is wrong by a day, to either side.
async function skewed(t) {
	const id = await t.terminal(["/bin/sleep", "1000"]);

	for (const days of [-1, 1]) {
		const page = await t.page();

		await page.addInitScript((ms) => {
			const now = Date.now;

			Date.now = () => now() + ms;
		}, days * 86400e3);
		await page.goto("/");
		const age = page.locator("td.age");

		await age.first().waitFor();
		t.ok(await t.until(async () => /^\d+ (s|min)( \d+ s)?$/.test(
		    await age.textContent())), "the age is by the daemon's clock",
		    await age.textContent());
		await page.goto("/session/" + id);
		const ran = page.locator("dt:text-is('Ran for') + dd");

		await ran.waitFor();
		t.ok(await t.until(async () => !/d|h/.test(
		    await ran.textContent())), "and how long it ran",
		    await ran.textContent());
	}
}

export const tests = { skewed, empty, uploads, bundles, drops, cancels, twice, lives, actions,
    several, byKeys, hiddenKeys, keepsFocus, goneChoice,
    lateAnswers, sorts,
    hostile };
