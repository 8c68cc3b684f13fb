// `npm start`: installs what is missing, builds what is stale, and becomes `grange up`.
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled("start");

// Only now are there packages to build with.
const { built } = await import("./build.mjs");
await built();

// In this very process: signals, terminal and exit code need nobody to carry them.
process.argv.splice(2, 0, "up");
await import("../dist/grange.js");
