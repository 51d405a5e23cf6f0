// SPDX-License-Identifier: ISC
// Builds the page: bundles src/, compresses what comes out, and writes the
// table and the assembler file by which netproc carries it.
// usage: node build.mjs SOURCE NODE_MODULES OUT
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

const [src, modules, out] = process.argv.slice(2).map((p) => path.resolve(p));
const esbuild = createRequire(path.join(modules, "x"))("esbuild");

const TYPES = {
	".css": "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
};

// What the bundle holds of others asks that its terms go with it.
function licences() {
	const lock = JSON.parse(fs.readFileSync(
	    path.join(modules, ".package-lock.json")));
	return Object.keys(lock.packages).map((p) => p.slice(13))
	    .filter((p) => p.startsWith("@xterm/")).sort().map((p) => {
		const text = fs.readFileSync(path.join(modules, p, "LICENSE"));
		return `${p}\n\n${text}`;
	}).join("\n\n");
}

// The sources with their modules beside them.  A part's name is a hash that
// knows the way from the working directory to each file: this one is the same
// wherever the sources, the modules and the build directory are.
function tree() {
	const top = path.join(out, "tree");
	fs.mkdirSync(top);
	fs.symlinkSync(src, path.join(top, "src"));
	fs.symlinkSync(modules, path.join(top, "node_modules"));
	return top;
}

// The page's files by their address, in the order of a binary search.
function bundle() {
	const files = new Map(), top = tree();
	const built = esbuild.buildSync({
		entryPoints: { app: "./src/main.js", theme: "./src/theme.js",
		    style: "./src/style.css" },
		absWorkingDir: top, preserveSymlinks: true,
		outdir: "/", write: false, bundle: true, splitting: true,
		format: "esm", minify: true, target: "es2022",
		chunkNames: "part-[hash]", legalComments: "none",
		logLevel: "warning",
	});
	fs.rmSync(top, { recursive: true });
	for (const f of built.outputFiles)
		files.set(f.path, Buffer.from(f.contents));
	for (const name of ["index.html", "icon.svg"])
		files.set("/" + name, fs.readFileSync(path.join(src, name)));
	files.set("/licences.txt", Buffer.from(licences()));
	return [...files].sort(([a], [b]) => (a < b ? -1 : 1));
}

const ASM_HEAD = `/* made by web/build.mjs */
#ifdef __CET__
#include <cet.h>
#endif
	.section .rodata
`;

const TABLE_HEAD = `/* made by web/build.mjs */
#include "netproc/web/assets.h"

`;

function write(files) {
	const asm = [ASM_HEAD], externs = [], rows = [];
	files.forEach(([name, bytes], i) => {
		const gz = gzipSync(bytes, { level: 9 });
		const hash = createHash("sha256").update(bytes).digest("hex");
		fs.writeFileSync(path.join(out, i + ".gz"), gz);
		asm.push(`	.globl	web_asset_${i}\n	.balign	16\n` +
		    `web_asset_${i}:\n	.incbin	"${i}.gz"\n`);
		externs.push(`extern const uint8_t web_asset_${i}[];\n`);
		rows.push(`	{ "${name}", "${TYPES[path.extname(name)]}",\n` +
		    `	    "\\"${hash.slice(0, 32)}\\"", web_asset_${i}, ` +
		    `${gz.length} },\n`);
	});
	asm.push('	.section .note.GNU-stack,"",%progbits\n');
	fs.writeFileSync(path.join(out, "assets.S"), asm.join(""));
	fs.writeFileSync(path.join(out, "table.c"), TABLE_HEAD +
	    externs.join("") + "\nconst struct asset web_assets[] = {\n" +
	    rows.join("") + "};\n" +
	    `const size_t web_nassets = ${rows.length};\n`);
}

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
write(bundle());
