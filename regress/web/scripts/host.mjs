// SPDX-License-Identifier: ISC
// The host: what it can do, quotas, what was done, tokens.

async function shows(t) {
	const page = await t.page();

	await t.upload(t.helper("hello"), "one");
	await page.goto("/");
	await page.getByRole("link", { name: "Host" }).click();
	await page.getByText("gdbserver").first().waitFor();
	const deps = (await t.call("GET", "/deps")).data.deps;
	const words = await page.locator(".deps").textContent();

	t.ok(deps.every((d) => words.includes(d.name) &&
	    (!d.remedy || words.includes(d.remedy))),
	    "every requirement is there, with its remedy");
	await page.locator(".quota", { hasText: "sessions" }).first()
	    .waitFor();
	t.ok(/^sessions1\D/.test(await page.locator(".quota",
	    { hasText: "sessions" }).first().textContent()),
	    "quotas with what is used of them");
	t.ok(await page.locator(".history li", { hasText: "UPLOAD" }).first()
	    .isVisible(), "what was done is listed");
	await page.getByText("spawner").first().waitFor();
	await t.clean(page, "host");
	await t.shot(page, "host");
	await page.locator(".history a").first().click();
	await page.getByRole("heading", { name: "one" }).waitFor();
	t.ok(true, "and leads to the session");
}

// What is asked anew is drawn anew where it has changed, or had not come.
async function rests(t) {
	const page = await t.page();
	let lost = 0;

	await t.upload(t.helper("hello"), "one");
	t.expected = [/ERR_|Failed to load/];
	await page.route("**/api/v1/{deps,tokens}", (r) => lost++ < 2 ?
	    r.abort() : r.continue());
	await page.goto("/host");
	await page.locator(".history li").first().waitFor();
	await page.evaluate(() => {
		document.querySelector(".history").scrolledTo = "here";
	});
	await page.waitForResponse("**/api/v1/activity");
	await page.locator(".deps").waitFor();
	t.ok(true, "what had not come is asked for again");
	t.eq(await page.evaluate(() => document.querySelector(".history")
	    .scrolledTo), "here", "who reads what was done is left alone");
}

async function audits(t) {
	const who = (await t.call("GET", "/whoami")).data;
	const page = await t.page();

	await page.goto("/host");
	await page.getByText("spawner").first().waitFor();
	const heading = page.getByRole("heading", { name: "Audit log" });

	t.eq(await heading.isVisible(), who.admin,
	    "the audit log is for administrators alone");
}

async function tokens(t) {
	const page = await t.page();

	await page.goto("/host");
	await page.getByRole("button", { name: "New token" }).click();
	const dialog = page.getByRole("dialog");

	await dialog.getByLabel("Label").fill("from-the-page");
	await dialog.getByLabel("Read-only").check();
	await t.clean(page, "token dialog");
	await dialog.getByRole("button", { name: "Make" }).click();
	const code = page.locator(".copyline code");

	await code.waitFor();
	const token = await code.textContent();

	t.ok(/^dlt_[\w-]{43}$/.test(token), "a token is shown once");
	await t.shot(page, "token");
	await page.keyboard.press("Escape");
	const row = page.locator(".tokens li", { hasText: "from-the-page" });

	await row.waitFor();
	t.ok(await row.getByText("read-only").isVisible(),
	    "it is listed as what it is");
	const other = await t.page({ login: false });

	t.expected = [/status of 401/, /INCOMPLETE_CHUNKED/];
	await other.goto("/login");
	await other.getByLabel("Login link or token").fill(token);
	await other.keyboard.press("Enter");
	await other.getByRole("heading", { name: "Sessions" }).waitFor();
	t.eq(await other.getByRole("button", { name: "Upload" }).count(), 0,
	    "who is read-only is offered nothing else");
	await t.clean(other, "read-only sessions");
	const id = await t.upload(t.helper("printer"), "looked-at");

	await t.call("PUT", `/sessions/${id}/env/KEY`, { value: "sekrit" });
	await other.goto("/session/" + id);
	await other.locator("dl.facts.env", { hasText: "KEY" }).waitFor();
	t.ok(!(await other.content()).includes("sekrit") &&
	    await other.getByText("only its owner sees the value")
		.isVisible(), "and told no value of a session's variables");
	await t.clean(other, "read-only session");
	await t.shot(other, "read-only-session");
	await row.getByRole("button").click();
	await page.getByRole("dialog").getByRole("button",
	    { name: "Revoke" }).click();
	await row.waitFor({ state: "detached" });
	await other.goto("/");
	await other.locator("input[name=token]").waitFor();
	t.ok(true, "a revoked token ends its logins");
}

async function ended(t) {
	const page = await t.page();
	const { id } = (await t.call("POST", "/tokens", { expires: 1 })).data;
	const row = page.locator(".tokens li", { hasText: id });

	await t.until(async () => {
		await page.goto("/host");
		await row.waitFor();
		return /, ended /.test(await row.innerText());
	});
	t.ok(true, "a token that is good no more is shown as such");
	t.eq((await row.innerText()).split(id).length, 2,
	    "one without a label has its id, once");
}

export const tests = { shows, rests, audits, tokens, ended };
