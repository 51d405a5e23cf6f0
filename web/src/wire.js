// SPDX-License-Identifier: ISC
// A terminal's connection: lantern.bin.v1 over a WebSocket that is made again
// when it breaks, from where it was.

import { isPassing, sayError, whyNot } from "./api.js";

const PROTOCOL = "lantern.bin.v1";
const RETRY_MS = [300, 600, 1000, 2000, 4000, 8000];
const ACK_EVERY = 64 * 1024;
const MAX_INPUT = 16384;

const IN = { input: 0x00, resize: 0x01, ack: 0x03 };
const OUT = { output: 0x80, history: 0x81, exit: 0x82, error: 0x83,
    size: 0x84, lost: 0x85, people: 0x86, live: 0x87 };

// Close codes after which another try would end the same way.
const FINAL = new Set([1000, 1002, 1003, 1007, 1008, 1009]);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function u64(view, at) {
	return Number(view.getBigUint64(at));
}

function message(type, size) {
	const bytes = new Uint8Array(1 + size);

	bytes[0] = type;
	return [bytes, new DataView(bytes.buffer)];
}

// -- what comes ---------------------------------------------------------------

function onOutput(wire, view, bytes) {
	const at = u64(view, 1);

	wire.at = at + bytes.length - 9;
	wire.on.output(bytes.subarray(9), at);
}

function onHistory(wire, view, bytes) {
	const at = u64(view, 1), skip = view.getUint16(9);
	const n = bytes.length - 11 - skip;

	wire.at = at + n;
	wire.on.history(bytes.subarray(11, 11 + skip),
	    bytes.subarray(11 + skip));
}

function onExit(wire, view) {
	wire.ended = true;
	wire.on.exit(view.getInt32(1), view.getUint32(5));
}

function onError(wire, view, bytes) {
	const words = decoder.decode(bytes.subarray(1));
	const cut = words.indexOf("\0");

	wire.on.error(words.slice(0, cut), words.slice(cut + 1));
}

const HANDLERS = {
	[OUT.output]: onOutput,
	[OUT.history]: onHistory,
	[OUT.exit]: onExit,
	[OUT.error]: onError,
	[OUT.size]: (wire, view) =>
	    wire.on.size(view.getUint16(1), view.getUint16(3)),
	[OUT.lost]: (wire, view) =>
	    wire.on.lost(u64(view, 9) - u64(view, 1)),
	[OUT.people]: (wire, view, bytes) =>
	    wire.on.people(JSON.parse(decoder.decode(bytes.subarray(1)))),
	[OUT.live]: (wire) => wire.on.live(),
};

// -- the connection -------------------------------------------------------------

// on: { output(bytes), history(preamble, bytes), live(), exit(code, signal),
// error(code, words), size(cols, rows), lost(n), people(list), link(state) }
export class Wire {
	constructor(id, key, size, on) {
		Object.assign(this, { id, key, size, on, at: null, acked: 0,
		    rendered: 0, tries: 0, ended: false, closed: false,
		    readOnly: false });
		this.open();
	}

	address() {
		const url = new URL(`/api/v1/pty/sessions/` +
		    `${encodeURIComponent(this.id)}/attach`, location.href);

		url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
		url.searchParams.set("cols", this.size.cols);
		url.searchParams.set("rows", this.size.rows);
		if (this.at !== null)
			url.searchParams.set("from", this.at);
		if (this.readOnly)
			url.searchParams.set("role", "ro");
		return url;
	}

	open() {
		const also = this.key ? ["lantern.token." + this.key] : [];
		const ws = new WebSocket(this.address(), [PROTOCOL, ...also]);

		this.ws = ws;
		this.opened = false;
		ws.binaryType = "arraybuffer";
		ws.onopen = () => {
			this.tries = 0;
			this.opened = true;
			this.acked = this.at ?? 0;
			this.on.link("open");
		};
		ws.onmessage = (e) => this.take(e.data);
		ws.onclose = (e) => this.ws === ws && this.broken(e);
	}

	take(data) {
		if (typeof data === "string")
			return;
		const bytes = new Uint8Array(data);

		HANDLERS[bytes[0]]?.(this, new DataView(data), bytes);
	}

	broken(e) {
		this.ws = null;
		if (this.closed)
			return;
		if (this.ended || FINAL.has(e.code)) {
			this.on.link("over", e.reason);
			return;
		}
		if (!this.opened)
			this.ask();
		else {
			this.on.link("lost");
			this.retry();
		}
	}

	// No handshake: the network may be gone, or there is a reason.
	async ask() {
		const url = this.address();
		let why = null;

		url.protocol = location.protocol;
		try {
			why = await whyNot(url, this.key);
		} catch {
			// the daemon cannot be asked either
		}
		if (this.closed || this.ws !== null)
			return;
		// what may be better soon is tried again
		if (why !== null && !isPassing(why)) {
			this.on.link("over", sayError(why));
			return;
		}
		this.on.link("lost", why && sayError(why));
		this.retry();
	}

	retry() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.open(),
		    RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
	}

	// As soon as there is a network again, not when the timer says so.
	hurry() {
		if (this.ws === null && !this.closed && !this.ended) {
			clearTimeout(this.timer);
			this.tries = 0;
			this.open();
		}
	}

	send(bytes) {
		if (this.ws?.readyState !== WebSocket.OPEN)
			return false;
		this.ws.send(bytes);
		return true;
	}

	input(data) {
		const all = typeof data === "string" ? encoder.encode(data) :
		    data;
		let sent = true;

		for (let i = 0; i < all.length; i += MAX_INPUT) {
			const part = all.subarray(i, i + MAX_INPUT);
			const [bytes] = message(IN.input, part.length);

			bytes.set(part, 1);
			sent = this.send(bytes) && sent;
		}
		return sent;
	}

	resize(cols, rows) {
		const [bytes, view] = message(IN.resize, 4);

		this.size = { cols, rows };
		view.setUint16(1, cols);
		view.setUint16(3, rows);
		this.send(bytes);
	}

	// What has been drawn: the daemon is never far ahead of that.
	drawn(offset, last) {
		const [bytes, view] = message(IN.ack, 8);

		this.rendered = offset;
		if (!last && offset - this.acked < ACK_EVERY)
			return;
		this.acked = offset;
		view.setBigUint64(1, BigInt(offset));
		this.send(bytes);
	}

	// No more from this connection.
	rest() {
		const ws = this.ws;

		this.ws = null;
		ws?.close();
	}

	// Another role, or the same anew.
	again() {
		clearTimeout(this.timer);
		this.rest();
		this.open();
	}

	close() {
		this.closed = true;
		clearTimeout(this.timer);
		this.ws?.close();
	}
}
