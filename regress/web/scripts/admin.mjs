// SPDX-License-Identifier: ISC
// What administrators are shown of the host.

async function audits(t) {
	t.eq((await t.call("GET", "/whoami")).data.admin, true,
	    "an administrator has logged in");
	await t.upload(t.helper("hello"), "audited");
	const page = await t.page();

	await page.goto("/host");
	await page.getByRole("heading", { name: "Audit log" }).waitFor();
	const row = page.locator(".audit tbody tr", { hasText: "UPLOAD" })
	    .first();

	await row.waitFor();
	t.ok(/web/.test(await row.textContent()),
	    "what was done is listed, with who and from where",
	    await row.textContent());
	await t.call("POST", "/tokens", { label: "for-the-audit" });
	await page.locator(".card", { has: page.getByRole("heading",
	    { name: "Audit log" }) }).getByRole("button", { name: "Reload" })
	    .click();
	await page.locator(".audit tbody tr", { hasText: "TOKEN create" })
	    .first().waitFor();
	t.ok(true, "a button shows what came since");
	await t.clean(page, "an administrator's host");
	await t.shot(page, "audit");
	await row.getByRole("link").click();
	await page.getByRole("heading", { name: "audited" }).waitFor();
	t.ok(true, "and a row leads to its session");
}

async function figures(t) {
	const r = await t.api.request.get("/metrics");

	t.ok(r.status() === 200 && /^debuglantern_\w+/m.test(await r.text()),
	    "the figures for Prometheus are there", r.status());
}

export const tests = { audits, figures };
