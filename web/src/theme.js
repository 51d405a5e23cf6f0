// SPDX-License-Identifier: ISC
// Light or dark as chosen here before: runs before anything is drawn.
{
	const theme = localStorage.getItem("theme");

	if (theme === "light" || theme === "dark")
		document.documentElement.dataset.theme = theme;
}
