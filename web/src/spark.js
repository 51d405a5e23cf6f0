// SPDX-License-Identifier: ISC
// A small line of how busy a session was.
import { svg } from "./dom.js";

const WIDTH = 64, HEIGHT = 18, SAMPLES = 40;

export function spark() {
	const line = svg("polyline", { class: "line" });
	const area = svg("polygon", { class: "area" });
	const el = svg("svg", { class: "spark", "aria-hidden": "true",
	    viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, area, line);

	return { el, draw: (history) => {
		el.toggleAttribute("hidden", history.length < 2);
		// one processor is the whole height, unless more are used
		const top = Math.max(100, ...history);
		const dx = WIDTH / (SAMPLES - 1);
		const x0 = WIDTH - (history.length - 1) * dx;
		const points = history.map((v, i) =>
		    `${(x0 + i * dx).toFixed(1)},` +
		    (HEIGHT - 1 - v / top * (HEIGHT - 3)).toFixed(1));

		line.setAttribute("points", points.join(" "));
		area.setAttribute("points", points.length > 1 ?
		    `${x0},${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}` :
		    "");
	} };
}

export function percent(cpu) {
	if (cpu === null || cpu === undefined)
		return "";
	return (cpu < 9.95 ? cpu.toFixed(1) : Math.round(cpu)) + " %";
}
