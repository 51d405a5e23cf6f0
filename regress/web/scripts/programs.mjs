// SPDX-License-Identifier: ISC
// Programs that use all of a terminal, within one.
import fs from "node:fs";
import { attach, shows, textOf } from "./terminal.mjs";

async function reloaded(t, page, words, name) {
	await page.reload();
	await page.locator(".termview[data-live=yes]").waitFor();
	await shows(t, page, words, name);
	await page.locator(".xterm-helper-textarea").focus();
}

const modes = (page) => page.evaluate(() => {
	const t = document.querySelector(".screen").terminal;

	return { alternate: t.buffer.active.type === "alternate",
	    mouse: t.modes.mouseTrackingMode };
});

async function vim(t) {
	const id = await t.terminal(["/usr/bin/vim", "-u", "NONE", "-nN",
	    "--cmd", "set mouse=a ttymouse=sgr", "/tmp/of-nobody"]);
	const page = await attach(t, id);

	await shows(t, page, /^~$/m, "vim draws");
	await page.keyboard.type("ihello 🏮 wörld");
	await page.keyboard.press("Escape");
	await shows(t, page, "hello 🏮 wörld", "vim takes text");
	t.eq((await modes(page)).alternate, true, "on the alternate screen");
	await page.keyboard.type(":set number\n");
	await shows(t, page, /1 hello 🏮 wörld/, "takes commands");
	await reloaded(t, page, /1 hello 🏮 wörld/,
	    "after a reload it looks as before");
	t.eq((await modes(page)).alternate, true,
	    "on the alternate screen again");
	await page.keyboard.type(":q!\n");
	await page.locator(".banner", { hasText: "finished" }).waitFor();
	t.ok(true, "and ends");
}

async function htop(t) {
	const id = await t.terminal(["/usr/bin/htop", "--no-color"]);
	const page = await attach(t, id);

	await shows(t, page, /PID.*USER/, "htop draws");
	await reloaded(t, page, /PID.*USER/, "and again after a reload");
	t.ok((await modes(page)).mouse !== "none", "with its mouse");
	await page.setViewportSize({ width: 700, height: 500 });
	await shows(t, page, /PID.*USER/, "and in another size");
	await page.keyboard.press("q");
	await page.locator(".banner", { hasText: "finished" }).waitFor();
	t.ok(true, "and ends");
}

async function nano(t) {
	const id = await t.terminal(["/usr/bin/nano", "-I"]);
	const page = await attach(t, id);

	await page.keyboard.type("some words");
	await shows(t, page, "some words", "nano takes text");
	await shows(t, page, "Exit", "and shows its keys");
	await page.keyboard.press("Control+x");
	await page.keyboard.press("n");
	await page.locator(".banner", { hasText: "finished" }).waitFor();
	t.ok(true, "and ends");
}

async function less(t) {
	const id = await t.terminal(["/bin/sh", "-c", "seq 1 1000 | less"]);
	const page = await attach(t, id);

	await shows(t, page, /^1$/m, "less shows a page");
	await page.keyboard.press("G");
	await shows(t, page, /^1000$/m, "goes to the end");
	await page.keyboard.type("?^77$\n");
	await shows(t, page, /^77$/m, "and searches");
	await page.keyboard.press("q");
	await page.locator(".banner", { hasText: "finished" }).waitFor();
	t.ok(true, "and ends");
}

async function tmux(t) {
	const socket = `/tmp/dl-tmux-${process.pid}`;
	const id = await t.terminal(["/usr/bin/tmux", "-S", socket, "-f",
	    "/dev/null", "new-session", "/bin/sh"]);
	const page = await attach(t, id);

	await shows(t, page, "[0]", "tmux has its status line");
	await page.keyboard.press("Control+b");
	await page.keyboard.press("%");
	await shows(t, page, "│", "and splits its window");
	await page.keyboard.type("echo pane-$((4))\n");
	await shows(t, page, "pane-4", "in which one types");
	await reloaded(t, page, /pane-4[^]*\[0\]/, "the same after a reload");
	await page.keyboard.type("exit\n");
	await t.until(async () => !(await textOf(page)).includes("│"), 10);
	await page.keyboard.type("exit\n");
	await page.locator(".banner").filter({ hasText: /ended/ }).waitFor();
	t.ok(true, "and ends");
	fs.rmSync(socket, { force: true });
}

export const tests = { vim, htop, nano, less, tmux };
