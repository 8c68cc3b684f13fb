// Builds the runnable files: the programs and migrations in dist/, the pages in dist/web. Skipped when up to date.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
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
  await Promise.all([manPages(), completionScripts()]);
}

/** What the build runs leaves no code cache in dist/, which jobs and images copy to other machines. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };

/** The built program writes its own man pages. */
async function manPages() {
  const program = join(root, "dist/grange.js");
  const pages = join(root, "dist/man");
  await rm(pages, { recursive: true, force: true });
  await promisify(execFile)(process.execPath, [program, "man", "--write", pages], { env });
}

/** The built program writes its own completion scripts, which it then only has to print. */
async function completionScripts() {
  const program = join(root, "dist/grange.js");
  const directory = join(root, "dist/completion");
  await rm(directory, { recursive: true, force: true });
  const scripts = await Promise.all(
    ["bash", "zsh", "fish"].map(async (shell) => {
      const options = { env, maxBuffer: 16 * 1024 * 1024 };
      const words = [program, "completion", shell];
      const { stdout } = await promisify(execFile)(process.execPath, words, options);
      return [shell, stdout];
    }),
  );
  await mkdir(directory);
  // Compressed, because the package has a limit of size.
  for (const [shell, script] of scripts)
    await writeFile(join(directory, `grange.${shell}.gz`), gzipSync(script, { level: 9 }));
}

async function pages() {
  const { buildPages } = await import("./page-bundles.mjs");
  await buildPages();
  const { buildDocs } = await import("./docs-site/build-docs.mjs");
  await buildDocs();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await built({ force: process.argv.includes("--force") });
}
