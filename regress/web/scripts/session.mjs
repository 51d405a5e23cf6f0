// SPDX-License-Identifier: ISC
// One session: its output, its state, how it runs, who sees it.
import { bytes } from "../../../web/src/format.js";
import { Network } from "../lib/proxy.mjs";

const COLOURS = "printf '\\033[31mred\\033[0m plain \\033[1;38;2;90;200;90m" +
    "rgb\\033[0m\\n'; echo '<b>no markup</b>'; printf 'half\\rwhole\\n'; " +
    "printf '\\303\\251\\360\\237\\217\\256 \\377\\n'";

// A program without a terminal.
async function command(t, argv, start = true) {
	const r = await t.call("POST", "/sessions", { argv });

	if (!r.data)
		throw new Error(JSON.stringify(r));
	if (start)
		await t.call("POST", `/sessions/${r.data.id}/start`);
	return r.data.id;
}

async function open(t, id, more) {
	const page = await t.page(more);

	await page.goto("/session/" + id);
	await page.locator(".lines").waitFor();
	return page;
}

// Beginnings of what steers a terminal, and no end of them.
const BROKEN = "printf 'a\\033\\nb\\n\\033[3\\nc\\n\\033]0;t\\nd\\n" +
    "\\033[1\\033[31mred\\033[0m\\n\\033Px\\033[32mgreen\\n'";

async function broken(t) {
	const id = await command(t, ["/bin/sh", "-c", BROKEN]);
	const page = await open(t, id);

	await page.getByText("finished").first().waitFor();
	await page.locator(".line", { hasText: "green" }).waitFor();
	t.eq((await lines(page)).map((l) => l.trimEnd()), ["a", "b", "", "c",
	    "", "d", "red", "green"], "no line is lost with it");
}

const lines = (page) => page.locator(".lines .line").allTextContents();

async function output(t) {
	const id = await command(t, ["/bin/sh", "-c", COLOURS]);
	const page = await open(t, id);

	await page.locator(".line", { hasText: "🏮" }).waitFor();
	t.eq((await lines(page)).map((l) => l.trimEnd()), ["red plain rgb",
	    "<b>no markup</b>", "whole", "é🏮 \ufffd"],
	    "lines, as they were written");
	const red = page.locator(".line span", { hasText: "red" });
	const rgb = page.locator(".line span", { hasText: "rgb" });
	const colour = (l) => l.evaluate((e) => getComputedStyle(e).color);

	t.ok(await red.evaluate((e) => e.classList.contains("f-1")),
	    "colours of the sixteen");
	t.ok(/^oklch\(0\.5 0\.\d+ 14\d/.test(await colour(rgb)),
	    "and any other, as dark as the ground needs", await colour(rgb));
	await page.getByText("finished").first().waitFor();
	t.ok(await page.getByText("exit code 0").first().isVisible(),
	    "the end in words");
	await t.clean(page, "session");
	await t.shot(page, "session");
}

async function ends(t) {
	const rows = [["exit 3", "exit code 3"], ["kill -SEGV $$",
	    "crashed: SIGSEGV"], ["kill -TERM $$", "ended by SIGTERM"]];

	for (const [script, words] of rows) {
		const id = await command(t, ["/bin/sh", "-c", script]);
		const page = await open(t, id);

		await page.locator(".ending", { hasText: words }).waitFor();
		t.ok(true, `"${script}" is told as ${words}`);
		await page.context().close();
	}
}

async function follows(t) {
	const id = await command(t, ["/bin/sh", "-c", "i=0; while read x; do " +
	    "seq $((i*500+1)) $((i*500+500)); i=$((i+1)); done"]);
	const page = await open(t, id);
	const box = page.locator(".lines");
	const atEnd = () => box.evaluate((e) =>
	    e.scrollHeight - e.scrollTop - e.clientHeight < 40);
	const say = async (n) => {
		await page.getByLabel("a line of input").fill("go");
		await page.keyboard.press("Enter");
		await page.locator(".line").getByText(String(n),
		    { exact: true }).waitFor({ state: "attached" });
	};

	await say(500);
	t.ok(await t.until(atEnd), "the end is followed");
	await box.hover();
	await page.mouse.wheel(0, -2000);
	await page.getByRole("button", { name: "Follow", exact: true })
	    .waitFor();
	await say(1000);
	t.ok(!await atEnd(), "who scrolls up stays there");
	await page.getByRole("button", { name: /new lines/ }).click();
	t.ok(await t.until(atEnd), "and comes back by a button");
	await page.getByRole("button", { name: "End", exact: true }).click();
	await page.getByText("finished").first().waitFor();
	t.ok(true, "input can be ended");
}

// Who types faster than the network is: each line goes once, in its order.
async function hurries(t) {
	const id = await command(t, ["/bin/cat"]);
	const page = await open(t, id);
	let n = 0;

	await page.route("**/stdin*", async (r) => {
		if (n++ === 0)
			await new Promise((f) => setTimeout(f, 1500));
		await r.continue();
	});
	await page.getByLabel("a line of input").click();
	await page.keyboard.type("one\ntwo\nthree\nhalf");
	await page.getByRole("button", { name: "End", exact: true }).click();
	await page.getByText("finished").first().waitFor();
	t.ok(await t.until(async () => await page.locator(".line").count() >=
	    3), "all of it comes");
	t.eq((await lines(page)).map((l) => l.trimEnd()),
	    ["one", "two", "three"], "once, in its order, and then the end");
	t.eq(await page.getByLabel("a line of input").inputValue(), "half",
	    "what is typed meanwhile stays");
}

async function searches(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "seq 1 300; printf 'nee\\033[31mdle\\033[0m\\n'; seq 1 300"]);
	const page = await open(t, id);

	await page.getByText("finished").first().waitFor();
	await page.keyboard.press("/");
	await page.keyboard.type("needle");
	await page.getByText("of 1", { exact: false }).waitFor();
	await page.keyboard.press("Enter");
	await page.getByText("1 of 1").waitFor();
	const seen = await page.locator(".line", { hasText: "needle" })
	    .evaluate((e) => {
		const r = e.getBoundingClientRect();

		return r.top > 0 && r.bottom < innerHeight;
	    });

	t.ok(seen, "a match across colours is found and shown");
	t.eq(await page.evaluate(() => CSS.highlights.get("hit").size), 1,
	    "it is marked");
}

// What the mark of the current match has in it, and in which line.
const marked = (page) => page.evaluate(() => {
	const r = [...CSS.highlights.get("hit-now") ?? []][0];

	return r && [r.toString(), r.startContainer.parentElement
	    .closest(".line").textContent.trimEnd()];
});

async function find(page, words) {
	await page.getByLabel("search the output").fill(words);
	await page.getByLabel("search the output").press("Enter");
}

async function searchesAll(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "seq -f 'row %g' 1 6000; printf '\\304\\260\\304\\260\\304\\260" +
	    " stop\\n\\304\\260\\304\\260\\304\\260x\\n'"]);
	const page = await open(t, id);

	await page.locator(".line", { hasText: "\u0130x" })
	    .waitFor({ state: "attached" });
	await find(page, "row");
	t.eq(await marked(page), ["row", "row 6000"],
	    "the first match of many is the latest");
	// one letter that is two when it is small
	await find(page, "stop");
	t.eq((await marked(page))?.[0], "stop", "marked is what was sought");
	await find(page, "x");
	t.eq((await marked(page))?.[0], "x", "to the end of a line");
}

// An address that a person has typed: ids are long, and names are names.
async function named(t) {
	const id = await t.upload(t.helper("hello"), "by-its-name");

	for (const path of ["by-its-name", id.slice(0, 8)]) {
		const page = await t.page();

		await page.goto("/session/" + path);
		t.ok(await t.until(async () => await page.locator("h1")
		    .textContent({ timeout: 1000 }).catch(() => "") ===
		    "by-its-name", 20), `${path}: leads to the session`);
		t.eq(new URL(page.url()).pathname, "/session/" + id,
		    "and to its own address");
		await page.context().close();
	}
}

// A view that is opened while there is no network is filled when there is.
async function late(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "echo was there before; exec cat"]);
	const net = await new Network(t.base).begin();
	const page = await t.page({ login: false, base: net.base });

	await page.context().addCookies(t.state.cookies);
	await page.goto("/");
	await page.locator("a.name").waitFor();
	t.expected = [/ERR_|Failed to load/];
	net.cut();
	await page.getByText("no connection").waitFor();
	await page.locator("a.name").click();
	await page.locator(".notice.bad").first().waitFor();
	net.mend();
	await page.getByText("no connection").waitFor({ state: "hidden" });
	t.ok(await t.until(async () => (await lines(page)).join("")
	    .includes("was there before"), 30),
	    "output comes when there is a network again");
	t.ok(await t.until(async () => await page.locator(".history li")
	    .count() > 0, 30), "and what happened");
	net.end();
}

// Colours cost more than letters do: as many as one likes are no reason to end.
async function colourful(t) {
	const id = await command(t, ["/bin/sh", "-c", "while read n; do " +
	    "awk -v n=$n 'BEGIN { for (i = 0; i < 1000; i++) " +
	    "s = s \"\\033[3\" i % 7 \"m.\"; for (i = 0; i < 800; i++) " +
	    "print s i; print \"all of it \" n }'; done"]);
	const page = await open(t, id);

	for (const n of "123") {
		await page.getByLabel("a line of input").fill(n);
		await page.keyboard.press("Enter");
		await page.locator(".line", { hasText: "all of it " + n })
		    .waitFor({ state: "attached" });
	}
	const n = await page.locator(".lines").evaluate((e) =>
	    e.querySelectorAll("span").length);

	t.ok(n > 100000 && n <= 400000, "what is kept is bounded", n);
}

const LEFT_OUT = " before this are left out here; Download has what the " +
    "daemon still holds";
const WERE_LOST = " were lost: the daemon keeps only the end of what a " +
    "program writes";
const notes = async (page) => (await page.locator(".lines .remark")
    .allTextContents()).map((l) => l.trim());

// How much was written, and from where on it is held.
async function held(t, id) {
	return t.api.evaluate(async (path) => {
		const { headers } = await fetch(path);

		return { total: Number(headers.get("X-Total")),
		    from: Number(headers.get("X-Offset")) };
	}, `/api/v1/sessions/${id}/output`);
}

async function ended(t, id) {
	const page = await open(t, id);

	await page.getByText("finished").first().waitFor();
	await page.locator(".line").getByText("the end", { exact: true })
	    .waitFor({ state: "attached" });
	return page;
}

// Few lines and many bytes, or the page leaves out the oldest lines.
const wide = (n) => `seq -f '%0200.0f' 1 ${n}`;

// Output that the page does not show is said, with what has become of it.
async function saysWhatIsLost(t) {
	const some = await command(t, ["/bin/sh", "-c",
	    wide(2000) + "; echo the end"]);
	const page = await ended(t, some);
	const one = await held(t, some);

	t.ok(one.from > 0, "less than a page shows, and more than is held", one);
	t.eq(await notes(page), [bytes(one.from) + WERE_LOST],
	    "what the daemon no longer holds was lost");
	t.eq(await page.locator(".lines > :first-child > :first-child")
	    .textContent(), bytes(one.from) + WERE_LOST,
	    "which is said before all lines");
	await page.context().close();

	const much = await command(t, ["/bin/sh", "-c",
	    wide(6000) + "; echo the end"]);
	const second = await ended(t, much);
	const { total, from } = await held(t, much);
	const first = total - 512 * 1024;

	t.eq(await notes(second), [bytes(first) + LEFT_OUT,
	    bytes(from - first) + WERE_LOST],
	    "what came before that is left out");
}

async function saysWhatIsLeftOut(t) {
	const id = await t.terminal(["/bin/sh", "-c",
	    "stty -opost; " + wide(3000) + "; echo the end"]);
	const page = await ended(t, id);
	const { total, from } = await held(t, id);

	t.eq([from, await notes(page)], [0, [bytes(total - 512 * 1024) +
	    LEFT_OUT]], "what is held and not shown is left out, not lost");
}

async function saysHowManyLinesAreLeftOut(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "seq 1 30000; echo the end"]);
	const page = await ended(t, id);
	const all = (await lines(page)).map((l) => l.trim());
	const first = Number(all[1]);

	t.ok(first > 1 && first < 30000 && all.length === 30003 - first,
	    "the oldest of many lines are left out", first);
	t.eq([all[0], await notes(page)], [`${first - 1} lines${LEFT_OUT}`,
	    [all[0]]], "how many, is said before the first that is there");
}

// A page that was without a network for too long.
async function saysWhatItHasMissed(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "echo before; read x; " + wide(3000) + "; echo the end"]);
	const net = await new Network(t.base).begin();
	const page = await t.page({ login: false, base: net.base });

	await page.context().addCookies(t.state.cookies);
	await page.goto("/session/" + id);
	await page.locator(".line").getByText("before", { exact: true })
	    .waitFor({ state: "attached" });
	t.expected = [/ERR_|Failed to load/];
	net.cut();
	await page.getByText("no connection").waitFor();
	await t.api.request.post(`/api/v1/sessions/${id}/stdin`, { data: "\n",
	    headers: { Origin: t.base, "X-CSRF-Token": t.csrf } });
	t.ok(await t.until(async () => /^(STOPPED|FINISHED)$/.test((await t
	    .call("GET", "/sessions/" + id)).data.state), 60), "it writes");
	net.mend();
	await page.locator(".line").getByText("the end", { exact: true })
	    .waitFor({ state: "attached" });
	const { from } = await held(t, id);

	t.eq(await notes(page), [bytes(from - "before\n".length) + WERE_LOST],
	    "as much as went by meanwhile was lost");
	t.eq((await page.locator(".lines .block > *").allTextContents())
	    .slice(0, 2).map((l) => l.trim()), ["before",
	    bytes(from - "before\n".length) + WERE_LOST],
	    "which is said where it is missing");
	net.end();
}

async function downloads(t) {
	const id = await command(t, ["/bin/sh", "-c",
	    "printf 'a\\000b\\377\\n'"]);
	const page = await open(t, id);

	await page.getByText("finished").first().waitFor();
	const [d] = await Promise.all([page.waitForEvent("download"),
	    page.getByRole("link", { name: "Download" }).click()]);
	const chunks = [];

	for await (const c of await d.createReadStream())
		chunks.push(c);
	t.eq([...Buffer.concat(chunks)], [0x61, 0, 0x62, 0xff, 0x0a],
	    "every octet is in the download");
}

async function again(t) {
	const id = await command(t, ["/bin/sh", "-c", "echo run $$; exec cat"]);
	const page = await open(t, id);

	await page.locator(".line", { hasText: "run" }).waitFor();
	await page.getByRole("button", { name: "Kill" }).click();
	await page.locator(".ending").waitFor();
	await page.getByRole("button", { name: "Start", exact: true }).click();
	await page.getByRole("button", { name: "Stop" }).waitFor();
	await page.locator(".line", { hasText: "run" }).waitFor();
	t.eq((await lines(page)).length, 1, "a new run has its own output");
	t.ok(await page.locator(".history li", { hasText: "START" })
	    .first().isVisible(), "what happened is listed");
}

async function debugs(t) {
	const id = await t.upload(t.helper("sleeper"), "to-debug");

	await t.call("POST", `/sessions/${id}/start`);
	const page = await open(t, id);

	t.ok(await page.getByText("debuglanternctl gdb-pipe " + id)
	    .isVisible(), "a command for gdb is there to copy");
	await t.clean(page, "running session");
}

async function shares(t) {
	const id = await command(t, ["/bin/cat"]);
	const page = await open(t, id);

	await page.getByLabel("user to share with").fill("nobody-like-that");
	t.expected = [/status of 4\d\d/];
	await page.getByRole("button", { name: "Share", exact: true }).click();
	const notice = page.locator(".notice.bad");

	await notice.waitFor();
	t.ok((await notice.textContent()).length > 20,
	    "an unknown user is refused in words",
	    await notice.textContent());
	const other = process.env.WEB_OTHER;

	if (other === "")
		return;
	await page.getByLabel("user to share with").fill(other);
	await page.getByRole("button", { name: "Share", exact: true }).click();
	const row = page.locator(".plain li", { hasText: other });

	await row.waitFor();
	t.eq((await t.call("GET", "/sessions/" + id)).data.shared,
	    [{ user: other, access: "ro" }], "it is shared");
	t.ok(await t.until(async () => await page
	    .getByLabel("user to share with").inputValue() === "", 20),
	    "the form is empty again");
	await page.getByLabel("user to share with").fill(other);
	await page.getByLabel("access", { exact: true }).selectOption("rw");
	await page.getByRole("button", { name: "Share", exact: true }).click();
	t.ok(await t.until(async () => /may use it/.test(await row
	    .textContent()), 20), "what they may do is shown as it changes",
	    await row.textContent());
	await t.clean(page, "shared session");
	await row.getByRole("button").click();
	await row.waitFor({ state: "detached" });
	t.ok(!(await t.call("GET", "/sessions/" + id)).data.shared,
	    "and not any more");
	t.eq(await page.evaluate(() => document.activeElement.ariaLabel),
	    "user to share with", "the keyboard stays there");
}

// A link cannot be shown a second time: it is there for as long as its page.
async function linkStays(t) {
	const id = await t.terminal(["/bin/cat"]);
	const page = await open(t, id);
	const link = page.locator(".copyline code", { hasText: "#dlv_" });
	const user = page.getByLabel("user to share with");

	await page.getByText("By a link").click();
	await page.getByRole("button", { name: "Make a link" }).click();
	await link.waitFor();
	await user.fill("half a na");
	await page.locator("h1").click();
	await t.call("POST", `/sessions/${id}/kill`);
	await page.locator(".ending").waitFor();
	t.ok(await link.isVisible(), "a link stays as its session ends");
	t.eq(await user.inputValue(), "half a na", "and what is typed");
}

// Whoever has scrolled in a long command reads on as its session ends.
async function readsOn(t) {
	const id = await command(t, ["/bin/sh", "-c", "exec cat # " +
	    "word ".repeat(600)]);
	const page = await open(t, id);
	const code = page.locator(".facts code.long");
	const top = () => code.evaluate((e) => e.scrollTop);

	await code.evaluate((e) => e.scrollTo(0, 60));
	t.ok(await top() > 0, "a long command is scrolled in");
	await t.call("POST", `/sessions/${id}/kill`);
	await page.locator(".ending").waitFor();
	t.ok(await top() > 0, "and stays so");
}

// An id is there to be copied, though the time beside it goes on.
async function selects(t) {
	const id = await command(t, ["/bin/cat"]);
	const page = await open(t, id);
	const code = page.locator(".facts code", { hasText: id });
	const ran = page.locator("dt:text-is('Ran for') + dd");

	await code.waitFor();
	await code.evaluate((e) => getSelection().selectAllChildren(e));
	const before = await ran.textContent();

	t.ok(await t.until(async () => await ran.textContent() !== before, 10),
	    "time goes on");
	// rows that come with the first figures stand before it
	await page.locator("dt:text-is('Memory')").waitFor();
	t.eq(await page.evaluate(() => String(getSelection())), id,
	    "and what is selected stays so");
	await t.call("POST", `/sessions/${id}/kill`);
	await page.locator(".ending").waitFor();
	t.eq(await page.evaluate(() => String(getSelection())), id,
	    "also when the session ends");
}

async function gone(t) {
	const id = await command(t, ["/bin/cat"]);
	const page = await open(t, id);

	await t.call("POST", `/sessions/${id}/kill`);
	await t.call("DELETE", `/sessions/${id}`);
	await page.getByText("There is no such session").waitFor();
	await t.clean(page, "no such session");
}

async function startsWith(t) {
	const id = await t.upload(t.helper("printer"), "with");
	const page = await open(t, id);

	await page.getByRole("button", { name: "Start with …" }).click();
	const dialog = page.getByRole("dialog");

	await dialog.getByLabel("Arguments").fill("'unclosed");
	await dialog.getByRole("button", { name: "Start" }).click();
	await dialog.locator(".wrong:not(:empty)").waitFor();
	t.ok(/not closed/.test(await dialog.locator(".wrong").textContent()),
	    "a quotation mark too few is told");
	await dialog.getByLabel("Arguments").fill("x 'y z'");
	await dialog.getByLabel("Sandbox").selectOption("tmpfs");
	await t.clean(page, "start dialog");
	await dialog.getByRole("button", { name: "Start" }).click();
	await dialog.waitFor({ state: "detached" });
	await page.locator(".ending, .pill[data-lamp=lit]").first().waitFor();
	t.ok(true, "and started with what was chosen");
}

// What a field of one line cannot show is not changed by looking at it.
async function keepsSettings(t) {
	const id = await t.upload(t.helper("printer"), "kept");
	const argv = ["a b", "c'd", "$x", "back\\slash", "", "two\nlines",
	    '"q"', "é"];

	await t.call("PUT", `/sessions/${id}/args`, { argv });
	await t.call("PUT", `/sessions/${id}/env/KEY`, { value: "one\ntwo" });
	await t.call("PUT", `/sessions/${id}/env/OTHER`, { value: "x" });
	const before = (await t.call("GET", "/sessions/" + id)).data;
	const page = await open(t, id);
	const start = async (f) => {
		await page.getByRole("button", { name: "Start with …" }).click();
		const dialog = page.getByRole("dialog");

		await f(dialog);
		await dialog.getByRole("button", { name: "Start" }).click();
		await dialog.waitFor({ state: "detached" });
		await page.locator(".ending").waitFor();
		return (await t.call("GET", "/sessions/" + id)).data;
	};
	const after = await start(() => {});

	t.eq([after.args, after.env], [before.args, before.env],
	    "arguments and variables of several lines stay as they are");
	const more = await start(async (dialog) => {
		const args = dialog.getByLabel("Arguments");

		await args.fill("new 'a b'");
		await dialog.getByLabel("value", { exact: true }).last()
		    .fill("y");
	});

	t.eq(more.env, { KEY: "one\ntwo", OTHER: "y" },
	    "beside those that are changed");
	t.ok(/^new .*a b/.test(more.args), "which are", more.args);
}

export const tests = { output, broken, ends, follows, hurries,
    searches, searchesAll, named, late,
    colourful, saysWhatIsLost, saysWhatIsLeftOut,
    saysHowManyLinesAreLeftOut, saysWhatItHasMissed,
    downloads, again,
    debugs, shares, linkStays, readsOn, selects, gone, startsWith,
    keepsSettings };
