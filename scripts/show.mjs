// `npm run show -- NAME [--json] [--long]`: measures Grange's promises, and prints a table.
import { spawnSync } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();
const build = spawnSync("node", ["scripts/build.mjs"], { stdio: ["ignore", "ignore", "inherit"] });
if (build.status !== 0) process.exit(1);
const { status } = spawnSync(
  "npx",
  ["--no-install", "tsx", "bench/show/main.ts", ...process.argv.slice(2)],
  {
    stdio: "inherit",
  },
);
process.exit(status ?? 1);
