// Runs the test files that the farm gave to this batch, and writes down how long each took.
// GRANGE_ITEMS_FILE holds their names as a JSON list; times.json is read by the farm, for its next batches.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const files = JSON.parse(readFileSync(process.env.GRANGE_ITEMS_FILE, "utf8"));
const times = {};
let failed = 0;
for (const file of files) {
  const started = Date.now();
  const { status } = spawnSync(process.execPath, [file], { stdio: "inherit" });
  times[file] = Date.now() - started;
  if (status !== 0) failed += 1;
  process.stdout.write(`${status === 0 ? "ok" : "FAILED"} ${file} ${times[file]} ms\n`);
}
writeFileSync("times.json", JSON.stringify(times));
process.exit(failed === 0 ? 0 : 1);
