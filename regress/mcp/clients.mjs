// SPDX-License-Identifier: ISC
// The official clients of the protocol at debuglantern-mcp and at /mcp: they
// check every message and every structured result against its schema, and
// throw what does not fit.  Prints a line of JSON for each result.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const { MCP_BIN, MCP_SOCKET, MCP_URL, MCP_TOKEN, MCP_MODULES, MCP_PROGRAM,
    DL_ONLY = "" } = process.env;
const need = createRequire(path.join(MCP_MODULES, "x"));
const load = (name) => import(pathToFileURL(need.resolve(name)));
const v1 = { ...await load("@modelcontextprotocol/sdk/client/index.js"),
    ...await load("@modelcontextprotocol/sdk/client/stdio.js"),
    ...await load("@modelcontextprotocol/sdk/client/streamableHttp.js") };
const v2 = { ...await load("@modelcontextprotocol/client"),
    ...await load("@modelcontextprotocol/client/stdio") };
const { Ajv2020 } = await load("ajv/dist/2020.js");

const TOOLS = ["debug_launch", "debug_query", "debug_stop", "debug_trace"];
const SOON = 60000;
const HOME = path.dirname(MCP_PROGRAM);
const run = promisify(execFile);
let prefix = "";

const say = (o) => process.stdout.write(JSON.stringify(o) + "\n");
const ok = (good, name, detail) => say({ ok: Boolean(good),
    name: prefix + name, detail: good ? undefined : JSON.stringify(detail) });
const eq = (got, want, name) => ok(JSON.stringify(got) ===
    JSON.stringify(want), name, { got, want });

async function within(f) {
	const end = Date.now() + SOON;

	for (;;) {
		const v = await f();

		if (v || Date.now() > end)
			return v;
		await new Promise((r) => setTimeout(r, 50));
	}
}

const envOf = () => ({ ...process.env, DEBUGLANTERN_SOCKET: MCP_SOCKET });
const stdio = (v) => new v.StdioClientTransport({ command: MCP_BIN,
    args: [], env: envOf(), stderr: "inherit" });
const http = (v) => new v.StreamableHTTPClientTransport(new URL(MCP_URL),
    { requestInit: { headers: { Authorization: `Bearer ${MCP_TOKEN}` } } });

// What both versions have in one form.
class Agent {
	constructor(v, options) {
		this.client = new v.Client({ name: "test", version: "1" },
		    options);
	}

	// Its result, checked by the client.
	call(name, args) {
		return this.client.callTool({ name, arguments: args });
	}

	async tool(name, args) {
		const r = await this.call(name, args);

		if (r.isError)
			throw new Error(name + ": " + r.content[0].text);
		if (JSON.stringify(JSON.parse(r.content[0].text)) !==
		    JSON.stringify(r.structuredContent))
			throw new Error(`${name}: the text is another`);
		return r.structuredContent;
	}

	// The words of an error that a tool is meant to have.
	async refusal(name, args) {
		try {
			const r = await this.call(name, args);

			return r.isError ? r.content[0].text : "none";
		} catch (e) {
			return "thrown: " + e.message;
		}
	}
}

async function lists(a) {
	const { tools } = await a.client.listTools();
	const ajv = new Ajv2020({ strict: true, allErrors: true,
	    allowUnionTypes: true });

	eq(tools.map((t) => t.name).sort(), TOOLS, "the four tools");
	for (const t of tools) {
		ok(ajv.compile(t.inputSchema) && ajv.compile(t.outputSchema),
		    `${t.name}: both schemas are strict`);
		ok(t.inputSchema.additionalProperties === false &&
		    t.outputSchema.type === "object",
		    `${t.name}: unknown parameters are not accepted`, t);
		eq(Object.keys(t.annotations).filter((k) =>
		    k.endsWith("Hint")).sort(), ["destructiveHint",
			"idempotentHint", "openWorldHint", "readOnlyHint"],
		    `${t.name}: all hints`);
		ok(t.description.length > 40, `${t.name}: it is described`);
	}
}

const launch = { command: MCP_PROGRAM, projectRoot: HOME };

async function begins(a) {
	const { sessionId, pid } = await a.tool("debug_launch", launch);

	ok(/^talk-\d{4}-\d\d-\d\d-\d\dh\d\d(-\d+)?$/.test(sessionId) &&
	    pid > 1, "it is launched", { sessionId, pid });
	ok((await a.refusal("debug_launch", launch)).includes(
	    "SESSION_EXISTS"), "not twice");
	return { sessionId, pid };
}

async function traces(a, sessionId) {
	const patterns = ["greet", "move", "turn"];
	let t = await a.tool("debug_trace", { sessionId, add: patterns });

	eq([t.activePatterns.sort(), t.hookedFunctions], [patterns, 3],
	    "functions are traced");
	t = await a.tool("debug_trace", { sessionId, remove: ["greet"] });
	eq([t.activePatterns.sort(), t.hookedFunctions],
	    [["move", "turn"], 2], "one less");
	t = await a.tool("debug_trace", { sessionId, add: ["greet"] });
	t = await a.tool("debug_trace", { sessionId });
	eq(t.hookedFunctions, 3, "what is traced can be asked");
}

// Each filter and form that there is, in results that the client checks.
async function asks(a, sessionId) {
	const query = (q) => a.tool("debug_query", { sessionId, ...q });
	const some = (q, n = 1) => within(async () => {
		const r = await query(q);

		return r.events.length >= n && r;
	});

	ok(await some({}, 50), "events come");
	for (const q of [
		{ eventType: "function_enter" }, { eventType: "function_exit" },
		{ eventType: "stdout" }, { eventType: "stderr" },
		{ function: { equals: "greet" } },
		{ function: { contains: "ree" } },
		{ function: { matches: "^(move|turn)$" } },
		{ sourceFile: { contains: "talk.c" } },
		{ returnValue: { isNull: true } }, { returnValue: { equals: 3 } },
		{ limit: 500 }, { limit: 1, offset: 3 }])
		for (const verbose of [false, true]) {
			const r = await some({ ...q, verbose });

			ok(r && r.totalCount >= r.events.length &&
			    r.hasMore === (r.totalCount > r.events.length +
				(q.offset ?? 0)),
			    `${JSON.stringify({ ...q, verbose })}`, r);
		}
	const [e] = (await query({ function: { equals: "greet" },
	    eventType: "function_enter", verbose: true, limit: 1 })).events;
	ok(e && e.function === "greet" && e.arguments.length === 4 &&
	    e.threadId > 0 && e.sourceFile.endsWith("/talk.c"),
	    "an event has the members of its schema", e);
	const after = (await query({ limit: 5 })).events.at(-1).id;
	ok((await some({ afterEventId: after, limit: 1 })).events[0].id !==
	    after, "a cursor goes on behind an event");
}

async function errs(a, sessionId) {
	for (const [code, name, args] of [
		["SESSION_NOT_FOUND", "debug_query", { sessionId: "nonesuch" }],
		["SESSION_NOT_FOUND", "debug_stop", { sessionId: "nonesuch" }],
		["INVALID_PATTERN", "debug_trace", { sessionId, add: [""] }],
		["/nonesuch", "debug_launch", { ...launch,
		    command: "/nonesuch" }],
		["limit", "debug_query", { sessionId, limit: 501 }],
		["eventType", "debug_query", { sessionId, eventType: "x" }],
		["nonesuch", "debug_query", { sessionId, nonesuch: 1 }],
		["command", "debug_launch", { projectRoot: HOME }]]) {
		const words = await a.refusal(name, args);

		ok(words.includes(code), `${name}: ${code}`, words);
	}
	const words = await a.refusal("debug_nonesuch", {});
	ok(words.startsWith("thrown: ") && words.includes("debug_nonesuch"),
	    "there is no such tool", words);
}

async function crashes(a, { sessionId, pid }) {
	process.kill(pid, "SIGUSR1");
	const last = await within(async () => {
		const r = await a.tool("debug_query", { sessionId,
		    eventType: "crash", verbose: true });

		return r.events[0];
	});
	ok(last?.crash?.signalName === "SIGSEGV", "a crash is an event", last);
	ok((await a.refusal("debug_trace", { sessionId, add: ["end"] }))
	    .includes("PROCESS_EXITED"), "no traces of what has ended");
}

async function ends(a, sessionId) {
	const { success, eventsCollected } = await a.tool("debug_stop",
	    { sessionId });

	ok(success === true && eventsCollected > 50, "it is stopped",
	    eventsCollected);
	ok((await a.refusal("debug_query", { sessionId })).includes(
	    "SESSION_NOT_FOUND"), "and has gone");
}

async function everything(a, transport) {
	await a.client.connect(transport);
	try {
		const s = await (await lists(a), begins(a));

		await traces(a, s.sessionId);
		await asks(a, s.sessionId);
		await errs(a, s.sessionId);
		await crashes(a, s);
		await ends(a, s.sessionId);
	} finally {
		await a.client.close();
	}
}

// The inspector's command line: one process for each question.
async function inspector(target, ...more) {
	// it looks for its own version from where it is started
	const cwd = path.join(MCP_MODULES,
	    "@modelcontextprotocol/inspector-cli/build");
	const ask = async (...args) => JSON.parse((await run(process.execPath,
	    ["cli.js", "--cli", target, ...more, ...args], { env: envOf(),
		timeout: SOON, cwd })).stdout);
	const tool = async (name, ...args) => (await ask("--method",
	    "tools/call", "--tool-name", name, ...args.flatMap((x) =>
		["--tool-arg", x]))).structuredContent;

	eq((await ask("--method", "tools/list")).tools.map((t) =>
	    t.name).sort(), TOOLS, "the four tools");
	const s = await tool("debug_launch", "command=" + MCP_PROGRAM,
	    "projectRoot=" + HOME);
	const id = "sessionId=" + s.sessionId;
	eq((await tool("debug_trace", id, 'add=["turn"]')).hookedFunctions, 1,
	    "a function is traced, of a session of another connection");
	ok(await within(async () => (await tool("debug_query", id,
	    'function={"equals":"turn"}', "verbose=true")).events.length),
	    "events come");
	process.kill(s.pid, "SIGTERM");
	ok((await tool("debug_stop", id)).success, "it is stopped");
}

const negotiated = (mode) => ({ versionNegotiation: { mode } });
const MODERN = { pin: "2026-07-28" };
const tests = {
	"sdk 1, stdio": () => everything(new Agent(v1), stdio(v1)),
	"sdk 1, http": () => everything(new Agent(v1), http(v1)),
	"client 2, stdio, old": () => everything(new Agent(v2,
	    negotiated("legacy")), stdio(v2)),
	"client 2, stdio, new": () => everything(new Agent(v2,
	    negotiated(MODERN)), stdio(v2)),
	"client 2, stdio, auto": () => everything(new Agent(v2,
	    negotiated("auto")), stdio(v2)),
	"client 2, http, old": () => everything(new Agent(v2,
	    negotiated("legacy")), http(v2)),
	"client 2, http, new": () => everything(new Agent(v2,
	    negotiated(MODERN)), http(v2)),
	"inspector, stdio": () => inspector(MCP_BIN),
	"inspector, http": () => inspector(MCP_URL, "--transport", "http",
	    "--header", `Authorization: Bearer ${MCP_TOKEN}`),
};

for (const [name, f] of Object.entries(tests)) {
	if (!name.includes(DL_ONLY))
		continue;
	prefix = name + ": ";
	try {
		await f();
	} catch (e) {
		ok(false, "ran to its end", e.stack);
	}
}
say({ done: true });
// whatever is open still
process.exit(0);
