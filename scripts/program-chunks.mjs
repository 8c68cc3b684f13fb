// Turns the chunks of esbuild into scripts that src/cli/program-loader/ compiles with a code cache, which Node 20 cannot do
// for ECMAScript modules (docs/decisions/0194-code-cache.md).
import { createHash } from "node:crypto";
import { Script } from "node:vm";

/** The parameters of a chunk. esbuild's option `define` puts the last one in place of `import.meta.url`. */
const parameters = "module,require,_load_,grangeProgramUrl";

/** An import that is executed before the chunk: with names, or for its effects alone. */
const staticImport =
  /(?<![\w$.])import(?:(?:\s+([\w$]+))?\s*,?\s*(?:\{([\w$\s,]*)\}|\*\s*as\s+([\w$]+))?\s*from)?\s*"([^"\n]+)"\s*;/g;

/** The last statement of a chunk, which licences of packages may follow. */
const lastExport = /(?<![\w$.])export\s*\{([\w$\s,]*)\};(?=\s*(?:\/\*[^]*\*\/\s*)?$)/;

/**
 * Returns the scripts for chunks, by file name, and what the loader must know of them.
 *
 * Imports become constants in the first line, which has no code, and exports become an object. Everything else keeps its
 * line and column, so that esbuild's source maps remain valid. Values of imports are read once: chunks do not import each
 * other in circles, and esbuild's exports do not change afterwards (`test/packaging/chunks.test.ts`).
 */
export function scriptsOfChunks(chunks, metafile) {
  const scripts = new Map();
  const imports = new Map();
  const asynchronous = new Set();
  for (const [name, text] of chunks) {
    const { script, isAsynchronous, imported } = scriptOf(name, text);
    compareWithList(name, imported, metafile.outputs[`dist/${name}`].imports);
    scripts.set(name, script);
    imports.set(`./${name}`, imported);
    if (isAsynchronous) asynchronous.add(`./${name}`);
  }
  const hash = createHash("sha256");
  for (const [name, script] of [...scripts].toSorted(byName)) hash.update(`${name}\0${script}\0`);
  const waitsFor = {};
  for (const name of imports.keys()) {
    const needed = [...importedBy(name, imports)].filter((each) => asynchronous.has(each));
    if (needed.length > 0) waitsFor[name] = needed;
  }
  const build = hash.digest("hex").slice(0, 16);
  return { scripts, table: { build, asynchronous: [...asynchronous], waitsFor } };
}

function scriptOf(name, text) {
  if (/\b_load_\b|import\.meta/.test(text)) {
    throw new Error(`dist/${name} has a name that scripts/program-chunks.mjs uses`);
  }
  const [code, mapLine = ""] = text.split(/^(?=\/\/# sourceMappingURL=)/m);
  const imported = [];
  const constants = [];
  const body = code
    .replaceAll(staticImport, (statement, byDefault, names, namespace, from) => {
      imported.push(from);
      constants.push(...constantsOf({ byDefault, names, namespace, from }));
      return blank(statement);
    })
    .replace(lastExport, (_, names) => `module.exports={${renamed(names, "exported")}};`)
    // As long as `import`.
    .replaceAll(/(?<![\w$.])import(?=\("[\w./:-]+"\))/g, "_load_");
  const [firstLine, ...lines] = body.split("\n");
  if (firstLine.trim() !== "") throw new Error(`dist/${name} has code in its first line`);
  const inner = [`"use strict";${constants.join("")}`, ...lines].join("\n");
  const isAsynchronous = problemOf(`(function(${parameters}){${inner}})`) !== undefined;
  const script = `(${isAsynchronous ? "async " : ""}function(${parameters}){${inner}})\n${mapLine}`;
  const problem = problemOf(script);
  if (problem !== undefined) throw new Error(`dist/${name} is no script`, { cause: problem });
  return { script, isAsynchronous, imported };
}

function constantsOf({ byDefault, names, namespace, from }) {
  const value = `require("${from}")`;
  // Of Node's modules, the namespace and the default are one object.
  const made = [];
  for (const name of [byDefault, namespace])
    if (name !== undefined) made.push(`const ${name}=${value};`);
  if (names !== undefined) made.push(`const{${renamed(names, "imported")}}=${value};`);
  return made.length === 0 ? [`${value};`] : made;
}

/** Turns `a as b` into what a pattern or an object has: `a:b`, or for exports `b:a`. */
function renamed(names, kind) {
  return names
    .split(",")
    .map((each) => each.trim().split(/\s+as\s+/))
    .map(([one, other]) => {
      if (other === undefined) return one;
      return kind === "imported" ? `${one}:${other}` : `${other}:${one}`;
    })
    .join(",");
}

/** Keeps lines and columns. */
function blank(statement) {
  return statement.replaceAll(/[^\n]/g, " ");
}

function problemOf(script) {
  try {
    new Script(script);
    return undefined;
  } catch (problem) {
    return problem;
  }
}

/** Fails when this file reads esbuild's output otherwise than esbuild meant it. */
function compareWithList(name, found, listed) {
  const expected = listed
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path, external }) => (external ? path : path.replace(/^dist\//, "./")));
  const missing = expected.filter((each) => !found.includes(each));
  const surplus = found.filter((each) => !expected.includes(each));
  const odd = missing.concat(surplus);
  if (odd.length > 0) throw new Error(`dist/${name}: imports not understood: ${odd.join(", ")}`);
}

/** Returns what a chunk imports, directly or through others, each after its own imports. */
function importedBy(name, imports, found = new Set()) {
  for (const each of imports.get(name) ?? []) {
    if (!imports.has(each) || found.has(each)) continue;
    importedBy(each, imports, found);
    found.add(each);
  }
  return found;
}

function byName([one], [other]) {
  return one < other ? -1 : 1;
}
