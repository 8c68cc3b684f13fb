import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { GranaryBuildReport, GranaryBuilds } from "#api/granary.ts";
import { type Farm, grange, startFarm } from "../../../test/support/farm.ts";
import { type Program, startProgram } from "../../../test/support/process.ts";
import { type LineOptions, type SlowLine, slowLine } from "../../../test/support/slow-line.ts";
import { cpuOf, type Timed, timed } from "./timed.ts";

/** A farm, a line to it that is as long as one likes, and granaries of machines behind that line. */
export interface GranaryLab {
  readonly farm: Farm;
  readonly line: SlowLine;
  readonly work: string;
  /** A machine's granary, with nothing in it, or with what another one left at `data`. */
  startGranary(options?: GranaryOptions): Promise<Granary>;
  report(id: string): Promise<GranaryBuildReport>;
  /** Reports of a project's builds, the newest first. */
  reports(project: string): Promise<GranaryBuildReport[]>;
  stop(): Promise<void>;
}

export interface GranaryOptions {
  readonly data?: string;
  readonly more?: readonly string[];
  readonly withoutFarm?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface BuildOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of `grange exec`, before the command. */
  readonly more?: readonly string[];
}

export interface Granary {
  readonly data: string;
  readonly program: Program;
  /** Runs a build by `grange exec`. `granaryCpuMs` is what the daemon used meanwhile. */
  exec(
    command: readonly string[],
    options: BuildOptions,
  ): Promise<Timed & { readonly granaryCpuMs: number }>;
  status(): Promise<Record<string, unknown>>;
  /** Resolves when all that is to go to the farm has gone. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export async function startGranaryLab(
  options: LineOptions & { readonly workers?: number },
): Promise<GranaryLab> {
  const work = await mkdtemp(join(tmpdir(), "grange-granary-"));
  const farm = await startFarm({ workers: options.workers ?? 0 });
  const line = await slowLine(Number(new URL(farm.url).port), options);
  const granaries: Granary[] = [];
  let made = 0;
  const get = async (path: string) => {
    const response = await fetch(`${farm.url}/api/v1/granary${path}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const lab: GranaryLab = {
    farm,
    line,
    work,
    async startGranary(wish = {}) {
      const data = wish.data ?? join(work, `granary-${made++}`);
      const granary = await openGranary(data, line, wish);
      granaries.push(granary);
      return granary;
    },
    report: async (id) => GranaryBuildReport.parse(await get(`/builds/${id}`)),
    async reports(project) {
      const { builds } = GranaryBuilds.parse(
        await get(`/builds?project=${encodeURIComponent(project)}&limit=50`),
      );
      return Promise.all(builds.map(({ id }) => lab.report(id)));
    },
    async stop() {
      await Promise.allSettled(granaries.map((granary) => granary.stop()));
      await line.close();
      await farm.stop();
      await rm(work, { recursive: true, force: true });
    },
  };
  return lab;
}

async function openGranary(data: string, line: SlowLine, wish: GranaryOptions): Promise<Granary> {
  await mkdir(data, { recursive: true });
  const env = { GRANGE_GRANARY_DATA: data, XDG_RUNTIME_DIR: data, ...wish.env };
  const where = wish.withoutFarm ? ["--no-farm"] : ["--server", `http://127.0.0.1:${line.port}`];
  const args = [grange, "granary", "--data", data, ...where, ...(wish.more ?? [])];
  const program = startProgram(process.execPath, args, { env });
  await Promise.race([
    untilThere(join(data, "endpoint")),
    program.finished.then(({ stderr, stdout }) => {
      throw new Error(`the granary ended at once: ${stderr}${stdout}`);
    }),
  ]);
  const grangeWith = (more: readonly string[], cwd: string, also: Record<string, string> = {}) =>
    timed([process.execPath, grange, ...more], { cwd, env: { ...env, ...also } });
  const status = async () => {
    const { code, text } = await grangeWith(["granary", "status", "--json"], data);
    const json = /\{[^]*\}/.exec(text)?.[0];
    if (code !== 0 || json === undefined) throw new Error(`no status of the granary: ${text}`);
    return z.record(z.string(), z.unknown()).parse(JSON.parse(json));
  };
  return {
    data,
    program,
    status,
    async exec(command, { cwd, env: also = {}, more = [] }) {
      const before = await cpuOf(program.pid);
      const run = await grangeWith(["exec", "--no-start", ...more, "--", ...command], cwd, also);
      return { ...run, granaryCpuMs: (await cpuOf(program.pid)) - before };
    },
    async drained() {
      for (;;) {
        const { outbox } = z
          .object({
            outbox: z.object({ results: z.number(), indexes: z.number(), reports: z.number() }),
          })
          .loose()
          .parse(await status());
        if (outbox.results + outbox.indexes + outbox.reports === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async stop() {
      program.signal("SIGTERM");
      await program.finished;
    },
  };
}

async function untilThere(file: string): Promise<void> {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
