// SPDX-License-Identifier: ISC
// Packages of the tests, which are installed below the build directory.
import { createRequire } from "node:module";
import path from "node:path";

export const need = createRequire(path.join(process.env.WEB_MODULES, "x"));
export const { chromium } = need("playwright-core");
export const { WebSocket } = need("ws");
