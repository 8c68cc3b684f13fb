// Builds the runnable files: the programs and migrations in dist/, the pages in dist/web. Skipped when up to date.
import { pathToFileURL } from "node:url";
import { root } from "./ensure-installed.mjs";
import { isCurrent, writeStamp } from "./source-stamp.mjs";

export async function built({ force = false } = {}) {
  if (!force && isCurrent(root)) return;
  const started = Date.now();
  process.stderr.write("Building …");
  try {
    await Promise.all([programs(), pages()]);
  } catch (cause) {
    process.stderr.write(` failed\n${cause.message ?? cause}\n`);
    process.exit(1);
  }
  writeStamp(root);
  process.stderr.write(` ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
}

async function programs() {
  const { buildPrograms } = await import("./program-bundles.mjs");
  await buildPrograms();
}

async function pages() {
  const { buildPages } = await import("./page-bundles.mjs");
  await buildPages();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await built({ force: process.argv.includes("--force") });
}
