// `npm run dev`: a farm that follows its sources. Installs what is missing, then starts scripts/dev/run-dev.ts.
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();

// Only now are there packages to run TypeScript with.
const { register } = await import("tsx/esm/api");
register();
await import("./dev/run-dev.ts");
