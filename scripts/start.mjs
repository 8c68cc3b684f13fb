// `npm start`: installs missing packages, builds outdated files, and becomes `grange up`: for the repository in --repo,
// otherwise for the demo project.
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled("start");

// Only now are there packages to build with.
const { built } = await import("./build.mjs");
await built();

// In this process, so that signals, terminal and exit code need no forwarding.
const words = process.argv.slice(2);
const namesRepository = words.some((word) => word === "--repo" || word.startsWith("--repo="));
process.argv.splice(2, 0, "up", ...(namesRepository || words.includes("--demo") ? [] : ["--demo"]));
await import("../dist/grange.js");
