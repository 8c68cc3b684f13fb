// `npm pack` runs this first (`prepack`): builds all that the package contains, from the sources that are there now.
import { built } from "./build.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled("start");
await built({ force: true });
