// `npm pack` runs this first (`prepack`): builds the package's content from the present sources.
import { built } from "./build.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { writeSoftwareBill } from "./software-bill.mjs";

ensureInstalled("start");
await built({ force: true });
writeSoftwareBill();
