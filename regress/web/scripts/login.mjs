// SPDX-License-Identifier: ISC
// Logging in and out.
import { execFileSync } from "node:child_process";

const AUTH = /status of 401/;

// uid: of somebody else.
function link(uid) {
	const r = execFileSync(process.env.WEB_CTL, ["web"],
	    { encoding: "utf8", ...(uid && { uid, env: { ...process.env,
		HOME: "/nonexistent" } }) });

	return /#(dlo_[\w-]+)/.exec(r)[1];
}

async function asked(t) {
	t.expected = [AUTH];
	const page = await t.page({ login: false });

	await page.goto("/host");
	await page.waitForSelector("input[name=token]");
	t.eq(new URL(page.url()).pathname, "/login",
	    "who is not logged in is asked to");
	t.ok(await page.getByLabel("Login link or token").isVisible(),
	    "the field has a name");
	await t.clean(page, "login");
	t.eq(await page.locator("nav").isVisible(), false,
	    "views are not offered yet");
	return page;
}

async function wrongThenRight(t) {
	const page = await asked(t);
	const input = page.getByLabel("Login link or token");

	await input.fill("dlt_" + "A".repeat(43));
	await page.getByRole("button", { name: "Log in" }).click();
	await page.locator(".wrong:not(:empty)").waitFor();
	t.ok(/token/.test(await page.locator(".wrong").textContent()),
	    "a wrong token is refused in words",
	    await page.locator(".wrong").textContent());
	const key = link();

	await input.fill(`http://elsewhere/login#${key}`);
	await page.keyboard.press("Enter");
	await page.getByRole("heading", { name: "Host", exact: true })
	    .waitFor();
	t.eq(new URL(page.url()).pathname, "/host",
	    "a pasted link logs in, and leads where one wanted to go");
}

async function keys(t) {
	t.expected = [AUTH];
	const key = link();
	const page = await t.page({ login: false });

	await page.goto("/login#" + key);
	await page.waitForSelector(".toolbar");
	t.ok(!page.url().includes("dlo_"), "the key leaves the address");
	const cookies = await page.context().cookies();

	t.eq(cookies.map((c) => [c.name, c.httpOnly, c.sameSite, c.path]),
	    [["lantern", true, "Strict", "/"]], "the cookie is kept from " +
	    "scripts and other sites");
	t.eq(await page.evaluate(() => document.cookie), "",
	    "no script sees it");
	const other = await t.page({ login: false });

	await other.goto("/login#" + key);
	await other.locator(".wrong:not(:empty)").waitFor();
	t.ok(true, "a link logs in once");
	await page.locator(".user button").click();
	await page.getByRole("menuitem", { name: "Log out" }).click();
	await page.waitForSelector("input[name=token]");
	await page.goto("/");
	await page.waitForSelector("input[name=token]");
	t.ok(true, "who has logged out is out");
	const r = await page.request.fetch("/api/v1/whoami", { headers: {
		Cookie: `lantern=${cookies[0].value}` } });

	t.eq(r.status(), 401, "the old cookie is worth nothing");
}

// The skip link is a way within the page: no secret, and no other address.
async function skips(t) {
	t.expected = [AUTH];
	const page = await asked(t);
	let tries = 0;

	page.on("request", (r) => {
		tries += r.method() === "POST";
	});
	await page.getByRole("link", { name: "Skip to the content" }).focus();
	await page.keyboard.press("Enter");
	t.eq(await page.evaluate(() => document.activeElement.id), "main",
	    "the content has the keyboard");
	t.eq([tries, await page.locator(".wrong").textContent()], [0, ""],
	    "and nothing is taken for a token");
	t.eq(new URL(page.url()).pathname, "/login", "or for an address");
	await page.goto("/login#top");
	await page.evaluate(() => {
		location.hash = "#bottom";
	});
	await page.waitForTimeout(500);
	t.eq(tries, 0, "what is no key is not tried as one");
}

async function follow(page, key) {
	await page.goto("/login#" + key);
	await page.waitForSelector(".toolbar");
	await page.waitForTimeout(300);
	return page.locator(".notice").allTextContents();
}

// A link that a user is made to follow would log them in as its maker.
async function replaced(t) {
	const page = await t.page({ login: false });
	const user = page.locator(".user button");

	await follow(page, link());
	t.eq(await follow(page, link()), [], "a new link of one's own is " +
	    "nothing to speak of");
	const me = await user.textContent(), other = process.env.WEB_OTHER;

	if (other === "")
		return;
	const said = await follow(page, link(Number(other.slice(1))));

	t.eq(await user.textContent(), other, "somebody else's link is theirs");
	t.ok(said.length === 1 && said[0].includes(
	    `act as ${other} from now on, no longer as ${me}`),
	    "and the page says whom one is now", said);
	await user.click();
	await page.getByRole("menuitem", { name: "Log out" }).click();
	await page.waitForSelector("input[name=token]");
	t.eq(await follow(page, link()), [], "after a logout it does not");
}

export const tests = { skips, wrongThenRight, keys, replaced };
