// `npm run image -- [OPTIONS]`: builds a container image of Grange; `--help` lists the options.
import { spawnSync } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();
const build = spawnSync("node", ["scripts/build.mjs"], { stdio: ["ignore", "ignore", "inherit"] });
if (build.status !== 0) process.exit(1);
const { status } = spawnSync(
  "npx",
  ["--no-install", "tsx", "scripts/image/main.ts", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
