import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { readCodeCache, writeCodeCache } from "./code-cache.ts";
import { codeCacheDirectory } from "./code-cache-directory.ts";
import { codeCacheSettings } from "./config.ts";

/** scripts/program-chunks.mjs defines it. */
declare const grangeChunks: {
  /** A hash of all chunks. */
  readonly build: string;
  /** The chunks that await something at their top level. */
  readonly asynchronous: readonly string[];
  /** Which of those a chunk imports, directly or through other chunks. */
  readonly waitsFor: Readonly<Record<string, readonly string[]>>;
};

type Exports = Readonly<Record<string, unknown>>;
type Chunk = (
  module: { exports: Exports },
  require: (name: string) => unknown,
  importChunk: (name: string) => Promise<unknown>,
  programUrl: string,
) => Promise<void> | undefined;

/** Processes that live longer are servers and workers, whose start is over by then. */
const startIsOverMs = 20_000;

const programUrl = import.meta.url;
const programs = fileURLToPath(new URL("./", programUrl));
const requireFromNode = createRequire(programUrl);
const asynchronous = new Set(grangeChunks.asynchronous);

const uid = process.getuid?.();
const directory = codeCacheDirectory(programs, codeCacheSettings(), uid);
const tag = cachedDataVersionTag();
const file = [
  nameOfCommand(),
  `${process.version}-${process.platform}-${process.arch}`,
  tag.toString(16),
  grangeChunks.build,
].join("-");
const cache = directory === undefined ? undefined : readCodeCache(directory, file, uid);

const loaded = new Map<string, Exports>();
const loading = new Map<string, Promise<Exports>>();
/** The scripts whose code the cache is to contain; undefined once that is decided. */
let scripts: Map<string, Script> | undefined = new Map();
let isIncomplete = cache === undefined;

if (directory !== undefined) keepCache(directory);
await importChunk("./main.cjs");

/** Each command has a file of its own, because each compiles other functions of the same chunks. */
function nameOfCommand(): string {
  const word = process.argv[2] ?? "";
  return /^[a-z-]{1,30}$/.test(word) ? word : "grange";
}

async function importChunk(name: string): Promise<unknown> {
  if (!name.startsWith("./")) return import(name);
  for (const other of grangeChunks.waitsFor[name] ?? []) await loadAsynchronous(other);
  return asynchronous.has(name) ? loadAsynchronous(name) : requireChunk(name);
}

function requireChunk(name: string): unknown {
  if (!name.startsWith("./")) return requireFromNode(name);
  const earlier = loaded.get(name);
  if (earlier !== undefined) return earlier;
  const module = { exports: {} };
  void compiled(name)(module, requireChunk, importChunk, programUrl);
  loaded.set(name, module.exports);
  return module.exports;
}

function loadAsynchronous(name: string): Promise<Exports> {
  const earlier = loading.get(name);
  if (earlier !== undefined) return earlier;
  const started = startAsynchronous(name);
  loading.set(name, started);
  return started;
}

async function startAsynchronous(name: string): Promise<Exports> {
  const module = { exports: {} };
  await compiled(name)(module, requireChunk, importChunk, programUrl);
  loaded.set(name, module.exports);
  return module.exports;
}

function compiled(name: string): Chunk {
  const path = programs + name.slice(2);
  const source = readFileSync(path, "utf8");
  if (process.sourceMapsEnabled) return compiledByNode(path, source);
  const cachedData = cache?.chunks.get(name);
  const script = new Script(
    source,
    cachedData === undefined ? { filename: path } : { filename: path, cachedData },
  );
  if (cachedData === undefined || script.cachedDataRejected === true) isIncomplete = true;
  scripts?.set(name, script);
  return script.runInThisContext() as Chunk;
}

/** Node reads source maps only of what its own loader compiles, and that has no cache in Node 20. */
function compiledByNode(path: string, source: string): Chunk {
  const module = new Module(path) as Module & { _compile(source: string, path: string): void };
  module._compile(`module.exports=${source}`, path);
  return module.exports as Chunk;
}

/** Writes the cache when the process exits, or before that when it has lived for a while. */
function keepCache(into: string): void {
  const writeAtExit = (code: number) => {
    // 2 is a wrong command line: then little was compiled, and the name may be a typing error.
    if (scripts === undefined || !isIncomplete || code === 2 || tag !== cachedDataVersionTag())
      return;
    const chunks = new Map(cache?.chunks);
    for (const [name, script] of scripts) chunks.set(name, script.createCachedData());
    writeCodeCache(into, file, { chunks, isOfWholeStart: false });
  };
  process.once("exit", writeAtExit);
  setTimeout(() => {
    if (isIncomplete || cache?.isOfWholeStart !== true) void writeInTurns(into, writeAtExit);
    else {
      scripts = undefined;
      process.off("exit", writeAtExit);
    }
  }, startIsOverMs).unref();
}

/** Other work is done between two chunks: a large one takes some milliseconds. */
async function writeInTurns(into: string, writeAtExit: (code: number) => void): Promise<void> {
  const chunks = new Map<string, Uint8Array>();
  for (const [name, script] of scripts ?? []) {
    chunks.set(name, script.createCachedData());
    await new Promise((resolve) => setImmediate(resolve).unref());
  }
  if (tag === cachedDataVersionTag()) {
    writeCodeCache(into, file, {
      chunks: new Map([...(cache?.chunks ?? []), ...chunks]),
      isOfWholeStart: true,
    });
  }
  scripts = undefined;
  process.off("exit", writeAtExit);
}
