// SPDX-License-Identifier: ISC
// xterm.js writes style elements and style attributes, which the page's
// policy does not allow.  Style sheets made by script, and the style property,
// are allowed, and do the same.

// Stands where a style element would: its text becomes a style sheet.
function standIn(create) {
	const el = create("template");
	const sheet = new CSSStyleSheet();

	document.adoptedStyleSheets.push(sheet);
	Object.defineProperty(el, "textContent", {
		set: (words) => sheet.replaceSync(words),
	});
	el.remove = () => {
		HTMLElement.prototype.remove.call(el);
		document.adoptedStyleSheets =
		    document.adoptedStyleSheets.filter((s) => s !== sheet);
	};
	return el;
}

export function withoutInlineStyles() {
	const create = document.createElement.bind(document);
	const setAttribute = Element.prototype.setAttribute;

	document.createElement = (tag, options) => (tag === "style" ?
	    standIn(create) : create(tag, options));
	Element.prototype.setAttribute = function set(name, value) {
		if (name === "style" && this instanceof HTMLElement)
			this.style.cssText = value;
		else
			setAttribute.call(this, name, value);
	};
}
