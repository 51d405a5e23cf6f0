// SPDX-License-Identifier: ISC
// Addresses within the page.

const routes = [];
let main = null, leave = null, before = () => {}, nowhere = () => {};

// view(main, params) builds what is shown; what it returns is called when
// the view is left.
export function route(path, view) {
	routes.push([new RegExp("^" + path.replace(/:(\w+)/g,
	    "(?<$1>[^/]+)") + "$"), view]);
}

// What is shown at an address that is none of a view.
export function otherwise(view) {
	nowhere = view;
}

// People type addresses: not all percent signs stand for a letter.
function decode(groups) {
	const params = {};

	try {
		for (const k of Object.keys(groups))
			params[k] = decodeURIComponent(groups[k]);
	} catch {
		return null;
	}
	return params;
}

function find(path) {
	for (const [re, view] of routes) {
		const m = re.exec(path);
		const params = m && decode(m.groups ?? {});

		if (params)
			return [view, params];
	}
	return [nowhere, {}];
}

export function show() {
	const [view, params] = find(location.pathname);

	leave?.();
	leave = null;
	before(location.pathname, view === nowhere);
	main.replaceChildren();
	main.scrollTop = 0;
	leave = view(main, params) ?? null;
}

export function go(path, { replace = false } = {}) {
	if (replace)
		history.replaceState(null, "", path);
	else
		history.pushState(null, "", path);
	show();
	// who does not see the page is told where they are now
	main.querySelector("h1")?.focus();
}

function onClick(e) {
	const a = e.target.closest?.("a[href]");

	if (!a || e.defaultPrevented || e.button !== 0 || e.ctrlKey ||
	    e.metaKey || e.shiftKey || a.origin !== location.origin ||
	    a.hasAttribute("download") || a.target)
		return;
	if (a.pathname.startsWith("/api/") || a.pathname.includes("."))
		return;
	e.preventDefault();
	go(a.pathname + a.hash);
}

export function mount(element, onShow) {
	main = element;
	before = onShow;
	addEventListener("popstate", show);
	document.addEventListener("click", onClick);
}
