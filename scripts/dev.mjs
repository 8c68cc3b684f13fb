// `npm run dev`: a farm that follows its sources. Installs missing packages, then starts scripts/dev/run-dev.ts.
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();

// Only now are the packages installed that run TypeScript.
const { register } = await import("tsx/esm/api");
register();
await import("./dev/run-dev.ts");
