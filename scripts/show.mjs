// `npm run show -- NAME [OPTIONS]`: measures Grange's promises, and prints a table. bench/show/main.ts reads the options.
import { spawnSync } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();
const words = process.argv.slice(2);
// The help needs no built program.
if (!words.some((word) => word === "--help" || word === "-h")) {
  const build = spawnSync("node", ["scripts/build.mjs"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (build.status !== 0) process.exit(1);
}
const { status } = spawnSync("npx", ["--no-install", "tsx", "bench/show/main.ts", ...words], {
  stdio: "inherit",
});
process.exit(status ?? 1);
