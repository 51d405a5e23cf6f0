// SPDX-License-Identifier: ISC
// New sessions: from files that were dropped or chosen, and from commands.
import { post, sayError, upload } from "./api.js";
import * as act from "./actions.js";
import { button, check, field, h, iconButton, replace, text } from "./dom.js";
import { bytes, count, split } from "./format.js";
import { go } from "./router.js";
import { complain, dialog, formDialog } from "./ui.js";

const HEAD = 264;
const MAGIC = [
	["elf", 0, "\x7fELF"],
	["bundle", 0, "\x1f\x8b"],
	["bundle", 0, "PK\x03\x04"],
	["bundle", 0, "\xfd7zXZ"],
	["bundle", 0, "\x28\xb5\x2f\xfd"],
	["bundle", 257, "ustar"],
];

async function kindOf(file) {
	const head = String.fromCharCode(...new Uint8Array(
	    await file.slice(0, HEAD).arrayBuffer()));

	return MAGIC.find(([, at, magic]) =>
	    head.startsWith(magic, at))?.[0] ?? "other";
}

// A file's name as a label: only what a label may have, and none where it could
// be the beginning of an id.
function labelOf(name) {
	const label = name.replace(/[^A-Za-z0-9._-]+/g, "-")
	    .replace(/^-+|-+$/g, "").slice(0, 64);

	return /^[0-9A-Fa-f-]{4,}$/.test(label) ? "" : label;
}

function progressRow(file) {
	const bar = h("progress", { max: String(file.size), value: 0,
	    "aria-label": "upload of " + file.name });
	const said = h("span.said", { role: "status" });
	const stop = h("span");
	const el = h("div.upload", h("b", file.name), stop, bar, said);

	return { el, stop,
	    move: (n, of) => {
		    bar.value = n;
		    text(said, n < of ? `${bytes(n)} of ${bytes(of)}` :
			"being checked …");
	    },
	    end: (words, bad) => {
		    el.classList.toggle("bad", bad);
		    replace(stop);
		    text(said, words);
	    } };
}

// Sends one file; resolves with the session, or null after an error.  Who has
// closed the dialog, which is the signal, wants none of it.
async function sendOne(file, exec, place, signal) {
	const row = progressRow(file);
	const query = "?file=" + encodeURIComponent(file.name) +
	    (exec === "" ? "" : "&exec=" + encodeURIComponent(exec));

	place.append(row.el);
	try {
		const u = upload("/sessions" + query, file, row.move);

		signal.addEventListener("abort", u.cancel);
		replace(row.stop, iconButton("close", "Cancel this upload",
		    u.cancel));
		const s = await u.done;

		row.end("loaded", false);
		return s;
	} catch (e) {
		row.end(sayError(e), true);
		return null;
	}
}

function oneFile(file, kind) {
	const name = h("input", { value: labelOf(file.name.replace(
	    /\.(tar(\.\w+)?|tgz|zip)$/, "")), maxlength: "64",
	    spellcheck: "false" });
	const exec = h("input", { required: true, spellcheck: "false",
	    placeholder: "bin/server", autofocus: true });
	const blank = { env: {}, args: "", tty: false };
	const set = act.settingsFields(blank);
	const how = act.howFields(blank);

	return { fields: [
		h("p.fileline", h("b", file.name), ` ${bytes(file.size)}, ` +
		    { elf: "an ELF program", bundle: "a bundle",
			other: "not a known kind of file" }[kind]),
		kind === "bundle" && field("Program in the bundle", exec,
		    "The path of the file to run, as it stands in the archive."),
		field("Name", name),
		set.el, how.el,
	], exec: () => (kind === "bundle" ? exec.value.trim() : ""),
	name: () => name.value.trim(), set, how, blank };
}

async function finish(s, one, run) {
	if (one.name() !== "")
		await act.rename(s, one.name());
	// what was typed is put to the session that there is now
	Object.assign(one.blank, { id: s.id });
	await one.set.apply();
	return run ? act.start(s, one.how.value()) : s;
}

async function uploadOne(file) {
	const kind = await kindOf(file);
	const one = oneFile(file, kind);
	const place = h("div.uploads");
	const run = check("Start it at once", true);
	const closed = new AbortController();
	let loaded = null;

	return formDialog("Upload", [...one.fields, run.el, place], "Upload",
	    async (close) => {
		loaded ??= await sendOne(file, one.exec(), place,
		    closed.signal);
		if (loaded === null || closed.signal.aborted)
			return;
		const s = await finish(loaded, one, run.input.checked);

		close(s);
		go((s.tty && run.input.checked ? "/terminal/" :
		    "/session/") + loaded.id);
	    }).finally(() => closed.abort());
}

async function uploadMany(files) {
	const closed = new AbortController();

	return dialog(`Upload ${count(files.length, "file")}`, (close) => {
		const place = h("div.uploads");
		const done = button("Done", () => close(), { kind: ".primary" });

		done.disabled = true;
		(async () => {
			for (const f of files) {
				if (closed.signal.aborted)
					break;
				const s = await sendOne(f, "", place,
				    closed.signal);

				if (s !== null)
					await act.rename(s, labelOf(f.name))
					    .catch(complain);
			}
			done.disabled = false;
			done.focus();
		})();
		return [place, h("footer", done)];
	}).finally(() => closed.abort());
}

export function uploadFiles(list) {
	const files = [...list];

	if (files.length === 1)
		uploadOne(files[0]).catch(complain);
	else if (files.length > 1)
		uploadMany(files).catch(complain);
}

export function chooseFiles() {
	const input = h("input", { type: "file", multiple: true });

	input.addEventListener("change", () => uploadFiles(input.files));
	input.click();
}

// Files may be dropped anywhere on a view.  Returns the way out.
export function acceptDrops(overlay) {
	let depth = 0;
	const has = (e) => e.dataTransfer?.types.includes("Files");
	const on = {
		dragenter: (e) => {
			if (!has(e))
				return;
			depth++;
			overlay.hidden = false;
		},
		dragover: (e) => has(e) && e.preventDefault(),
		dragleave: (e) => {
			if (has(e) && --depth <= 0) {
				depth = 0;
				overlay.hidden = true;
			}
		},
		drop: (e) => {
			if (!has(e))
				return;
			e.preventDefault();
			depth = 0;
			overlay.hidden = true;
			uploadFiles(e.dataTransfer.files);
		},
	};

	for (const [k, f] of Object.entries(on))
		addEventListener(k, f);
	return () => {
		for (const [k, f] of Object.entries(on))
			removeEventListener(k, f);
	};
}

// -- commands -----------------------------------------------------------------

// About the size that the terminal's view will have.
function guessSize() {
	return { cols: Math.max(20, Math.min(300,
	    Math.floor((innerWidth - 40) / 8.5))),
	rows: Math.max(8, Math.min(120,
	    Math.floor((innerHeight - 130) / 18))) };
}

async function create(body) {
	const size = guessSize();
	const s = await post("/sessions", { ...body, ...(body.tty && size) });

	try {
		await act.start(s, body.tty ? { tty: true, ...size } : {});
	} catch (e) {
		// a command that cannot run leaves nothing behind
		await act.remove(s).catch(() => {});
		throw e;
	}
	go((body.tty ? "/terminal/" : "/session/") + s.id);
	return s;
}

export function newShell() {
	return create({ argv: [], tty: true });
}

export function newCommand() {
	const line = h("input", { spellcheck: "false", autocapitalize: "off",
	    autofocus: true, placeholder: "your shell" });
	const name = h("input", { maxlength: "64", spellcheck: "false" });
	const cwd = h("input", { spellcheck: "false",
	    placeholder: "your home directory" });
	const env = act.envFields();
	const tty = check("On a terminal", true);

	return formDialog("New terminal", [
		field("Command", line, "As in a shell: quotes and " +
		    "backslashes, nothing is expanded. Empty: a shell."),
		h("div.grid2", field("Name", name),
		    field("Working directory", cwd)),
		env.el, tty.el,
	], "Start", async (close) => {
		await create({ argv: split(line.value), tty: tty.input.checked,
		    env: env.value(),
		    ...(name.value.trim() && { name: name.value.trim() }),
		    ...(cwd.value.trim() && { cwd: cwd.value.trim() }) });
		close(true);
	});
}
