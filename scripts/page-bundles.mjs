// Builds the pages: index.html, and below assets/ in a directory named by a hash of all of them, scripts and a style sheet.
//
// esbuild splits the pages' code where it is imported lazily, and then makes a file of each set of modules that the
// same pages share: more than a hundred small files, of which a page needed up to twenty. Each costs a request, and
// the browser learns of many only after it has read another. So a second pass joins the files of the first one: to
// `first.js`, which every page needs, and to one file for each group of pages.
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform, version } from "esbuild";
import { root } from "./ensure-installed.mjs";
import { assignBundles, bundleNames, staticImports, styleSheets } from "./page-graph.mjs";

const web = join(root, "web");
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
  const bundlesOf = assignBundles(graph, "main.tsx");
  const styles = await joinStyles(styleSheets(split.metafile));

  const texts = split.outputFiles.map(({ path, text }) => [basename(path), text]);
  // One hash for all: the first file names each page, so a change of any file would rename it, and with it all others.
  const builder = await readFile(fileURLToPath(import.meta.url), "utf8");
  const hash = hashOf([...texts.flat(), worker, styles, builder, version]);
  const base = `/assets/${hash}`;
  const files = await joinBundles(new Map(texts), bundlesOf, graph.outputOf("main.tsx"));
  files.set("lay-out.worker.js", worker);
  files.set("first.css", styles);

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
 * The second pass: joins the files of each bundle, and minifies them.
 *
 * Code imports from another bundle by one name for each export (`aliasOf`), because several files may export the same
 * name. A lazily loaded file is one export of its bundle: an object with all that the file exports.
 */
async function joinBundles(texts, bundlesOf, main) {
  const exportsOf = new Map(bundleNames.map((bundle) => [bundle, new Map()]));
  /** Returns the address of the bundle that has a file, and the name of an export there. */
  const exportOf = (file, name) => {
    const [bundle] = bundlesOf(file);
    const exported = exportsOf.get(bundle);
    const key = `${name} ${file}`;
    if (!exported.has(key)) exported.set(key, `x${exported.size.toString(36)}`);
    return { from: `${bundlePrefix}${bundle}.js`, alias: exported.get(key) };
  };
  const linked = new Map(
    bundleNames.map((bundle) => {
      const isHere = (file) => bundlesOf(file).includes(bundle);
      const files = [...texts].filter(([file]) => isHere(file));
      return [bundle, new Map(files.map(([file, text]) => [file, link(text, isHere, exportOf)]))];
    }),
  );
  const joined = await Promise.all(
    bundleNames.map(async (bundle) => {
      const lines = [...exportsOf.get(bundle)].map(([key, alias]) => {
        const [name, file] = key.split(" ");
        return name === "*"
          ? `export * as ${alias} from "./${file}";`
          : `export { ${name} as ${alias} } from "./${file}";`;
      });
      if (bundlesOf(main).includes(bundle)) lines.unshift(`import "./${main}";`);
      return [`${bundle}.js`, await joinFiles(linked.get(bundle), lines.join("\n"))];
    }),
  );
  return new Map(joined);
}

/** Changes the imports of a file from files that are not in its bundle to the bundles that have them. */
function link(text, isHere, exportOf) {
  return text
    .replaceAll(/^import \{([^}]*)\} from "\.\/([^"]+)";$/gm, (whole, names, file) => {
      if (isHere(file)) return whole;
      const imports = names.split(",").flatMap((each) => {
        const [name, local = name] = each.trim().split(" as ");
        if (name === "") return [];
        const { from, alias } = exportOf(file, name);
        return [`import { ${alias} as ${local} } from "${from}";`];
      });
      return imports.join("\n");
    })
    .replaceAll(/^import "\.\/([^"]+)";$/gm, (whole, file) => (isHere(file) ? whole : ""))
    .replaceAll(/\bimport\("\.\/([^"]+)"\)/g, (_, file) => {
      const { from, alias } = exportOf(file, "*");
      return `import("${from}").then((bundle) => bundle.${alias})`;
    });
}

/** Marks an import from another bundle; all bundles are in the same directory. */
const bundlePrefix = "bundle:";

async function joinFiles(texts, entry) {
  const plugin = {
    name: "files-of-the-first-pass",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path }) =>
        path.startsWith(bundlePrefix)
          ? { path: `./${path.slice(bundlePrefix.length)}`, external: true }
          : { path: path.replace(/^\.\//, ""), namespace: "joined" },
      );
      onLoad({ filter: /./, namespace: "joined" }, ({ path }) => ({
        contents: path === "entry" ? entry : texts.get(path),
      }));
    },
  };
  const { outputFiles } = await build({
    ...options,
    entryPoints: ["entry"],
    outdir: "out",
    minify: true,
    plugins: [plugin],
  });
  return outputFiles[0].text;
}

/** One style sheet for all pages: a page would otherwise wait for a file of a few hundred bytes. */
async function joinStyles(paths) {
  const texts = await Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(web, path), "utf8");
      return (await transform(text, { loader: "css", minify: true, target: "es2023" })).code;
    }),
  );
  return texts.join("");
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
