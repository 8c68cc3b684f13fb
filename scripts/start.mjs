// `npm start`: installs what is missing, builds what is stale, and becomes `grange up`: of the repository
// that --repo names, and else of the demo project.
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled("start");

// Only now are there packages to build with.
const { built } = await import("./build.mjs");
await built();

// In this very process: signals, terminal and exit code need nobody to carry them.
const words = process.argv.slice(2);
const namesRepository = words.some((word) => word === "--repo" || word.startsWith("--repo="));
process.argv.splice(2, 0, "up", ...(namesRepository || words.includes("--demo") ? [] : ["--demo"]));
await import("../dist/grange.js");
