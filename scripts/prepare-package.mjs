// `npm pack` runs this first (`prepack`): builds the package's content from the present sources.
import { built } from "./build.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { writeSoftwareBill } from "./software-bill.mjs";

// All packages: those of traces are development packages, because few need them, and yet part of this package.
ensureInstalled();
await built({ force: true });
writeSoftwareBill();
