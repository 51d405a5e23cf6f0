// SPDX-License-Identifier: ISC
// A network between the browser and the daemon, which can be cut or stand
// still.
import net from "node:net";

export class Network {
	constructor(target) {
		this.target = new URL(target);
		this.pairs = new Set();
		this.up = true;
		this.server = net.createServer((a) => this.join(a));
	}

	async begin() {
		await new Promise((r) => this.server.listen(0, "127.0.0.1", r));
		this.base = `http://127.0.0.1:${this.server.address().port}`;
		return this;
	}

	join(a) {
		if (!this.up) {
			a.destroy();
			return;
		}
		const b = net.connect(Number(this.target.port), "127.0.0.1");
		const pair = [a, b];

		this.pairs.add(pair);
		for (const [from, to] of [[a, b], [b, a]]) {
			from.on("error", () => to.destroy());
			from.on("close", () => {
				to.destroy();
				this.pairs.delete(pair);
			});
			from.pipe(to);
		}
	}

	cut() {
		this.up = false;
		for (const [a, b] of this.pairs) {
			a.destroy();
			b.destroy();
		}
	}

	mend() {
		this.up = true;
	}

	end() {
		this.cut();
		this.server.close();
	}
}
