import { cp, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { holdDataDirectory } from "#cli/up/hold-data-directory.ts";
import { messageOf } from "#core/fault.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { type Bundle, openBundle } from "./bundle.ts";
import { startPages } from "./pages.ts";
import { type ReloadingProcess, reloadingProcess, type Start } from "./reloading-process.ts";
import { watchFolder } from "./watch-folder.ts";

const root = join(import.meta.dirname, "../..");
const usage = `npm run dev [-- OPTIONS]: a farm that follows its sources

  --port N         the port of the pages (default 8981)
  --server-port N  the port of the server, for grange and build tools (default 8980)
  --data DIR       the data directory (default .grange-data/dev)
  --no-worker      start no worker
`;

interface Part {
  readonly name: string;
  readonly bundle: Bundle;
  readonly process: ReloadingProcess;
}

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8981" },
    "server-port": { type: "string", default: "8980" },
    data: { type: "string", default: join(root, ".grange-data/dev") },
    "no-worker": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

/** Closed in reverse order at the end. */
const opened: (() => Promise<unknown>)[] = [];
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop(0));

try {
  await run();
} catch (cause) {
  if (!isStopping) {
    print(`cannot start: ${messageOf(cause)}`);
    await stop(1);
  }
}

async function run(): Promise<void> {
  const started = Date.now();
  const build = join(root, "dist/dev");
  const data = await holdDataDirectory(values.data);
  opened.push(() => data.release());
  const database = await startEmbeddedPostgres({ dataDir: values.data });
  opened.push(() => database.stop());

  const serverUrl = `http://127.0.0.1:${values["server-port"]}`;
  const server = await openPart("server", {
    file: join(build, "server.js"),
    source: programOf("./src/cli/commands/server.ts", "describeServer"),
    args: ["--port", values["server-port"], "--data", values.data, "--log-level", "warn"],
    env: { ...process.env, GRANGE_DATABASE_URL: database.url },
  });
  const workerData = join(values.data, "worker");
  const workerName = `${hostname().replaceAll(/[^A-Za-z0-9-]/g, "-")}-dev`;
  const worker = values["no-worker"]
    ? undefined
    : await openPart("worker", {
        file: join(build, "worker.js"),
        source: 'import "./src/cli/worker-file.ts";',
        args: [
          "--server",
          serverUrl,
          "--name",
          workerName,
          "--data",
          workerData,
          "--hide",
          values.data,
          "--log-level",
          "error",
        ],
        env: process.env,
      });

  // Requests of the pages wait here while the server restarts.
  let ready: Promise<unknown> = Promise.resolve();
  let changed: { path: string; at: number } | undefined;
  let isReloading = false;

  /** Updates both programs; the worker after the server, because users wait for the server. */
  const reloadParts = async (path: string, at: number) => {
    if (path === "" || path.endsWith(".sql")) await copyMigrations(build);
    const reloaded = reload(server, path, at, path.endsWith(".sql"));
    ready = reloaded;
    await reloaded;
    if (worker !== undefined && !isStopping) await reload(worker, path, at, false);
    if (isStopping) return;
    server.process.prepare();
    worker?.process.prepare();
  };
  const follow = async () => {
    if (isReloading) return;
    isReloading = true;
    while (changed !== undefined && !isStopping) {
      // An editor may empty a file before it writes it.
      await setTimeout(20);
      const { path, at } = changed;
      changed = undefined;
      await reloadParts(path, at);
    }
    isReloading = false;
  };

  await reloadParts("", started);
  data.announce(serverUrl);
  const pages = await startPages({
    root,
    port: Number(values.port),
    server: serverUrl,
    serverReady: () => ready,
    onReload: (file, ms) => print(`pages   ${file}: browsers notified after ${ms} ms`),
  });
  opened.push(() => pages.close());
  const note = (path: string, at: number) => {
    changed = { path, at: changed?.at ?? at };
    void follow();
  };
  const unwatch = watchFolder(join(root, "src"), (file) => {
    const path = relative(root, file);
    if (!/\.(?:ts|sql)$/.test(path) || path.endsWith(".test.ts")) return;
    void stat(file).then(
      ({ mtimeMs }) => note(path, mtimeMs),
      () => note(path, Date.now()),
    );
  });
  opened.push(async () => unwatch());

  print(`pages   http://127.0.0.1:${values.port}`);
  print(`server  ${serverUrl}: what grange and build tools use; data in ${values.data}`);
  print("Save a file below src/ or web/ to reload. Ctrl-C stops everything.");
}

/** The server reads them from its own directory. */
async function copyMigrations(build: string): Promise<void> {
  await rm(join(build, "migrations"), { recursive: true, force: true });
  await cp(join(root, "src/db/migrations"), join(build, "migrations"), { recursive: true });
}

interface PartOptions {
  readonly file: string;
  readonly source: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

async function openPart(name: string, options: PartOptions): Promise<Part> {
  const { file, source } = options;
  const define = { grangeVersion: '"dev"', grangeCommit: '"dev"' };
  const bundle = await openBundle({ root, source, file, define });
  opened.push(() => bundle.stop());
  const part = { name, bundle, process: reloadingProcess(options) };
  opened.push(() => part.process.stop());
  return part;
}

/** Rebuilds a program, and restarts it if it has changed. `path` is empty at the first start. */
async function reload(part: Part, path: string, savedAt: number, always: boolean): Promise<void> {
  const what = path === "" ? "started" : path;
  const started = Date.now();
  const built = await part.bundle.rebuild();
  if (isStopping) return;
  if (built.kind === "failed") {
    print(`${part.name}  ${what}: does not build; the last version goes on\n${built.message}`);
    return;
  }
  if (built.kind === "same" && !always) return;
  const buildMs = Date.now() - started;
  const packages = built.kind === "built" ? built.packages : undefined;
  const start: Start = await part.process.reload(packages);
  if (isStopping) return;
  if (start.kind === "failed") print(`${part.name}  ${what}: does not start: ${start.message}`);
  else {
    const ms = Math.round(Date.now() - savedAt);
    print(`${part.name}  ${what}: reloaded in ${ms} ms (build ${buildMs} ms)`);
  }
}

function programOf(module: string, describe: string): string {
  return `
    import { Command } from "commander";
    import { ${describe} } from "${module}";
    const command = new Command();
    ${describe}(command, { entry: process.argv[1], version: grangeVersion });
    await command.parseAsync();
  `;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function stop(exitCode: number): Promise<void> {
  isStopping = true;
  for (const close of opened.splice(0).toReversed()) await close().catch(() => {});
  process.exit(exitCode);
}
