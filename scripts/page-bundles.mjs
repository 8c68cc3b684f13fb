// Builds the pages: index.html, and below assets/ in a directory named by a hash of all of them, scripts and styles.
//
// esbuild splits the pages' code where it is imported lazily, and then makes a file of each set of modules that the
// same pages share. The first pass yields dozens of small files that the first page needs. The second pass joins those
// to `first.js`, which takes fewer requests and compresses better; every other file stays as the first pass made it.
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform, version } from "esbuild";
import { root } from "./ensure-installed.mjs";
import { staticImports, stylesOfPages } from "./page-graph.mjs";

const web = join(root, "web");
/**
 * A file that this many lazily loaded ones share is part of the first file: most visits need it, and it compresses
 * better there.
 *
 * At 5, the first load is 14 kB larger, compressed; at 12, most pages are 2 kB larger, of which each loads more files.
 */
const widelyShared = 8;
const layoutWorker = "pages/graph/lay-out.worker.ts";

/** The common options of all scripts of the pages. */
const options = {
  absWorkingDir: web,
  bundle: true,
  platform: "browser",
  format: "esm",
  target: "es2023",
  charset: "utf8",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  tsconfig: join(root, "tsconfig.web.json"),
  write: false,
  metafile: true,
  logLevel: "silent",
};

/** Builds the pages into a directory, whose content is replaced. */
export async function buildPages(outDir = join(root, "dist/web")) {
  const [split, worker] = await Promise.all([splitPages(), bundleWorker()]);
  const graph = staticImports(split.metafile);
  const main = graph.outputOf("main.tsx");
  const first = new Set([...graph.reachedFrom(main), ...graph.sharedBy(widelyShared)]);
  const styles = await readStyles(stylesOfPages(split.metafile, "main.tsx"));

  const texts = split.outputFiles.map(({ path, text }) => [basename(path), text]);
  // One hash for all: the first file names each page, so a change of any file would rename it, and with it all others.
  const builder = await readFile(fileURLToPath(import.meta.url), "utf8");
  const hash = hashOf([...texts.flat(), worker, ...styles.texts.values(), builder, version]);
  const base = `/assets/${hash}`;
  const files = await joinFirst({ texts: new Map(texts), first, main, base, styles });
  files.set("lay-out.worker.js", worker);
  for (const [name, text] of styles.texts) files.set(name, text);

  await rm(outDir, { recursive: true, force: true });
  const assets = join(outDir, base);
  await mkdir(assets, { recursive: true });
  await cp(join(web, "public"), outDir, { recursive: true });
  await Promise.all([...files].map(([name, text]) => writeFile(join(assets, name), text)));
  await writeFile(join(outDir, "index.html"), await indexPage(base));
}

/** The first pass: a file for each page, and one for each set of modules that the same pages share. */
function splitPages() {
  return build({
    ...options,
    entryPoints: { main: "main.tsx" },
    outdir: "out",
    splitting: true,
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    plugins: [ownSources, leanZod, namedReact, withoutStyles],
  });
}

async function bundleWorker() {
  const { outputFiles } = await build({ ...options, entryPoints: [layoutWorker], minify: true });
  return outputFiles[0].text;
}

/**
 * The second pass: joins the files of the first page, and minifies all.
 *
 * Other files import from `first.js` instead of the joined files; it exports these names under its own aliases.
 */
async function joinFirst({ texts, first, main, base, styles }) {
  const aliases = new Map();
  const aliasOf = (file, name) => {
    const key = `${name} ${file}`;
    if (!aliases.has(key)) aliases.set(key, `x${aliases.size.toString(36)}`);
    return aliases.get(key);
  };
  const ready = new Map(
    [...texts].map(([name, text]) => [name, withStyles(text, styles.ofPage, base)]),
  );
  const others = new Map(
    [...ready]
      .filter(([name]) => !first.has(name))
      .map(([name, text]) => [name, importFromFirst(text, first, aliasOf)]),
  );
  const entry = [
    `import "./${main}";`,
    ...[...aliases].map(([key, alias]) => {
      const [name, file] = key.split(" ");
      return `export { ${name} as ${alias} } from "./${file}";`;
    }),
  ].join("\n");
  ready.set("entry", entry).set(loadStylesFile, loadStyles);

  const joined = {
    name: "files-of-the-first-pass",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === "dynamic-import"
          ? { path, external: true }
          : { path: path.replace(/^\.\//, ""), namespace: "joined" },
      );
      onLoad({ filter: /./, namespace: "joined" }, ({ path }) => ({ contents: ready.get(path) }));
    },
  };
  const [{ outputFiles }, ...minified] = await Promise.all([
    build({ ...options, entryPoints: ["entry"], outdir: "out", minify: true, plugins: [joined] }),
    ...[...others].map(async ([name, text]) => {
      const { charset, format, legalComments, target } = options;
      const made = await transform(text, { charset, format, legalComments, target, minify: true });
      return [name, made.code];
    }),
  ]);
  return new Map([["first.js", outputFiles[0].text], ...minified]);
}

/** Changes the imports of a file of the first pass from joined files to `first.js`. */
function importFromFirst(text, first, aliasOf) {
  return text
    .replaceAll(/^import \{([^}]*)\} from "\.\/([^"]+)";$/gm, (whole, names, from) => {
      if (!first.has(from) && from !== loadStylesFile) return whole;
      const renamed = names.split(",").flatMap((each) => {
        const [name, local = name] = each.trim().split(" as ");
        return name === "" ? [] : [`${aliasOf(from, name)} as ${local}`];
      });
      return `import { ${renamed.join(", ")} } from "./first.js";`;
    })
    .replaceAll(/^import "\.\/([^"]+)";$/gm, (whole, from) => (first.has(from) ? "" : whole));
}

/** Makes a page wait for its styles: without them it would be drawn twice. */
function withStyles(text, ofPage, base) {
  let isChanged = false;
  const changed = text.replaceAll(/\bimport\("\.\/([^"]+)"\)/g, (whole, file) => {
    const styles = ofPage.get(file) ?? [];
    if (styles.length === 0) return whole;
    isChanged = true;
    const addresses = styles.map((style) => JSON.stringify(`${base}/${style}`));
    return `loadStyles$(${whole}, ${addresses.join(", ")})`;
  });
  return isChanged
    ? `import { loadStyles as loadStyles$ } from "./${loadStylesFile}";\n${changed}`
    : changed;
}

const loadStylesFile = "load-styles.js";
const loadStyles = `
const loading = new Map();
export async function loadStyles(page, ...addresses) {
  await Promise.all(addresses.map((address) => {
    let sheet = loading.get(address);
    if (sheet === undefined) {
      sheet = new Promise((resolve, reject) => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = address;
        link.onload = resolve;
        link.onerror = () => {
          loading.delete(address);
          link.remove();
          reject(new Error("cannot load " + address));
        };
        document.head.append(link);
      });
      loading.set(address, sheet);
    }
    return sheet;
  }));
  return page;
}
`;

/** Reads and minifies the style sheets: those of the first page as one, of others one each. */
async function readStyles({ first, ofPage }) {
  const minified = async (path) => {
    const text = await readFile(join(web, path), "utf8");
    return (await transform(text, { loader: "css", minify: true, target: "es2023" })).code;
  };
  const paths = [...new Set([...ofPage.values()].flat())];
  const nameOf = (path) => path.replaceAll("/", "-").replace(/^pages-/, "");
  const texts = new Map(
    await Promise.all(paths.map(async (path) => [nameOf(path), await minified(path)])),
  );
  texts.set("first.css", (await Promise.all(first.map(minified))).join(""));
  return {
    texts,
    ofPage: new Map([...ofPage].map(([output, styles]) => [output, styles.map(nameOf)])),
  };
}

async function indexPage(base) {
  const source = await readFile(join(web, "index.html"), "utf8");
  const script = '<script type="module" src="/main.tsx"></script>';
  if (!source.includes(script)) throw new Error(`web/index.html no longer has ${script}`);
  return source.replace(
    script,
    `<script type="module" src="${base}/first.js"></script>\n` +
      `    <link rel="stylesheet" href="${base}/first.css">`,
  );
}

/** Changes sources for which esbuild's output is too large or wrong. */
const ownSources = {
  name: "own-sources",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:src|web)[\\/].*\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text
        // esbuild keeps all of a namespace that another module exports again: `z`, and those in it.
        .replace('import { z } from "zod";', zodByModule)
        .replaceAll(/\bz\.(coerce|iso)\./g, "z_$1.")
        // The worker is in the same directory as all other files.
        .replace(`new URL("./${basename(layoutWorker)}"`, 'new URL("./lay-out.worker.js"');
      const isTable = /[\\/]src[\\/]api[\\/]endpoints[\\/]/.test(path);
      return {
        contents: isTable ? forPages(contents) : contents,
        loader: path.endsWith("x") ? "tsx" : "ts",
      };
    });
  },
};

/**
 * Returns a table of endpoints without the parts that pages do not read: texts for people, and checks of the server.
 *
 * Schemas without another use are removed with it, like unused imports.
 */
function forPages(table) {
  const lean = table.replaceAll(
    /^ {4}(?:summary|right|params|query|body|largeBody):[^]*?(?=^ {4}\w|^ {2}\})/gm,
    "",
  );
  return lean.replaceAll(/^import \{([^}]*)\} from ([^;]*);$/gm, (_, names, from) => {
    const isUsed = (name) => lean.split(new RegExp(`\\b${name}\\b`)).length > 2;
    const used = names.split(",").map((name) => name.trim());
    const kept = used.filter((name) => /^\w+$/.test(name) && isUsed(name));
    return kept.length === 0 ? "" : `import { ${kept.join(", ")} } from ${from};`;
  });
}

const zodByModule = [
  'import * as z from "zod";',
  'import * as z_coerce from "zod/coerce";',
  'import * as z_iso from "zod/iso";',
].join(" ");

/**
 * Removes the parts of zod that the pages do not use.
 *
 * Pages read JSON and never write a JSON Schema, whose code in zod is as large as that of many of its types.
 */
const leanZod = {
  name: "lean-zod",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod\/(?:coerce|iso)$/ }, async ({ path }) => ({
      path: await realpath(
        join(root, "node_modules/zod/v4/classic", `${path.slice("zod/".length)}.js`),
      ),
      sideEffects: false,
    }));
    const writesSchemas =
      /[\\/]zod[\\/]v4[\\/]core[\\/](?:to-json-schema|json-schema-processors)\.js$/;
    onLoad({ filter: writesSchemas }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const names = text.matchAll(/^export (?:function|const) (\w+)/gm);
      const exported = Array.from(names, ([, name]) => `none as ${name}`).join(", ");
      const none = 'const none = () => { throw new Error("no JSON Schema here"); };';
      return { contents: `${none} export { ${exported} };` };
    });
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text
        .replace(
          'import { util } from "../core/index.js";',
          'import * as util from "../core/util.js";',
        )
        .replaceAll("core.util.", "util.");
      return { contents };
    });
  },
};

/**
 * Adds named exports to React's modules, which are CommonJS.
 *
 * After minification, an element is `j("div")` instead of `(0,r.jsx)("div")`.
 */
const namedReact = {
  name: "named-react",
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^react(?:-dom)?(?:\/jsx-runtime|\/client)?$/ },
      ({ path, kind, namespace }) => {
        if (kind !== "import-statement" || namespace === "named-react") return undefined;
        return { path, namespace: "named-react", sideEffects: false };
      },
    );
    onLoad({ filter: /./, namespace: "named-react" }, async ({ path }) => {
      const { default: all } = await import(path);
      const names = Object.keys(all).filter((name) => /^[a-zA-Z]\w*$/.test(name));
      const lines = names.map((name) => `export const ${name} = all.${name};`);
      const contents = [`import all from "${path}";`, ...lines, "export default all;"].join("\n");
      return { contents, resolveDir: web };
    });
  },
};

/** Style sheets are not part of scripts; the metafile tells which module imports which. */
const withoutStyles = {
  name: "without-styles",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, () => ({ contents: "", loader: "js" }));
  },
};

function hashOf(texts) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  return hash.digest("hex").slice(0, 12);
}
