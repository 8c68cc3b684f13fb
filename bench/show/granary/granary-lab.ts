import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { GranaryBuildReport, type GranaryBuildSummary, GranaryBuilds } from "#api/granary.ts";
import { protocolVersions } from "#granary/protocol/versions.ts";
import { type Farm, grange, startFarm } from "../../../test/support/farm.ts";
import { type Program, startProgram } from "../../../test/support/process.ts";
import { type LineOptions, type SlowLine, slowLine } from "../../../test/support/slow-line.ts";
import { cpuOf, type Timed, timed } from "./timed.ts";

/** A farm, a connection to it with any delay, and granaries of machines behind that connection. */
export interface GranaryLab {
  readonly farm: Farm;
  readonly line: SlowLine;
  readonly work: string;
  /** Starts a machine's granary, empty or with an earlier one's data. */
  startGranary(options?: GranaryOptions): Promise<Granary>;
  /** Returns a project's last builds. */
  builds(project: string): Promise<GranaryBuildSummary[]>;
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

interface BuildOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of `grange exec`, before the command. */
  readonly more?: readonly string[];
}

export interface Granary {
  readonly data: string;
  readonly program: Program;
  /** Runs a build with `grange exec`. `granaryCpuMs` is the daemon's CPU time meanwhile. */
  exec(
    command: readonly string[],
    options: BuildOptions,
  ): Promise<Timed & { readonly granaryCpuMs: number }>;
  status(): Promise<Record<string, unknown>>;
  /** Resolves when it has completed its initial work, and is idle. */
  idle(): Promise<void>;
  /** Resolves when everything for the farm was sent. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

const Told = z.object({ type: z.literal("status"), status: z.record(z.string(), z.unknown()) });

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
    async startGranary(request = {}) {
      const data = request.data ?? join(work, `granary-${made++}`);
      const granary = await openGranary(data, line, request);
      granaries.push(granary);
      return granary;
    },
    report: async (id) => GranaryBuildReport.parse(await get(`/builds/${id}`)),
    async builds(project) {
      const page = await get(`/builds?project=${encodeURIComponent(project)}&limit=50`);
      return GranaryBuilds.parse(page).builds;
    },
    async reports(project) {
      const builds = await lab.builds(project);
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

export async function openGranary(
  data: string,
  line: Pick<SlowLine, "port">,
  request: GranaryOptions,
): Promise<Granary> {
  await mkdir(data, { recursive: true });
  const env = { GRANGE_GRANARY_DATA: data, XDG_RUNTIME_DIR: data, ...request.env };
  const where = request.withoutFarm ? ["--no-farm"] : ["--server", `http://127.0.0.1:${line.port}`];
  const args = [grange, "granary", "--data", data, ...where, ...(request.more ?? [])];
  const program = startProgram(process.execPath, args, { env });
  await Promise.race([
    untilListening(join(data, "endpoint"), program.pid),
    program.finished.then(({ stderr, stdout }) => {
      throw new Error(`the granary ended at once: ${stderr}${stdout}`);
    }),
  ]);
  const grangeWith = (more: readonly string[], cwd: string, also: Record<string, string> = {}) =>
    timed([process.execPath, grange, ...more], { cwd, env: { ...env, ...also } });
  const status = () => statusOf(join(data, "socket"));
  return {
    data,
    program,
    status,
    async exec(command, { cwd, env: also = {}, more = [] }) {
      const before = await cpuOf(program.pid);
      const run = await grangeWith(["exec", "--no-start", ...more, "--", ...command], cwd, also);
      // The value of a daemon that was killed meanwhile is unknown.
      const after = await cpuOf(program.pid).catch(() => Number.NaN);
      return { ...run, granaryCpuMs: after - before };
    },
    async idle() {
      const deadline = Date.now() + 10_000;
      let before = await cpuOf(program.pid);
      while (Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        const now = await cpuOf(program.pid);
        // The kernel counts in steps of 10 ms.
        if (now - before <= 10) return;
        before = now;
      }
    },
    async drained() {
      for (;;) {
        const { outbox, builds } = z
          .object({
            builds: z.array(z.unknown()),
            outbox: z.object({ results: z.number(), indexes: z.number(), reports: z.number() }),
          })
          .loose()
          .parse(await status());
        if (builds.length + outbox.results + outbox.indexes + outbox.reports === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async stop() {
      program.signal("SIGTERM");
      await program.finished;
    },
  };
}

/** Queried without a separate process, because it is queried repeatedly. */
async function statusOf(socketPath: string): Promise<Record<string, unknown>> {
  const socket = connect(socketPath);
  const answers = createInterface({ input: socket });
  // When the granary is gone, `answers` throws this error, too.
  socket.on("error", () => {});
  try {
    socket.write(`${JSON.stringify({ type: "hello", versions: [...protocolVersions], id: 1 })}\n`);
    socket.write(`${JSON.stringify({ type: "status", id: 2 })}\n`);
    for await (const line of answers) {
      const answer = Told.safeParse(JSON.parse(line));
      if (answer.success) return answer.data.status;
    }
  } finally {
    socket.destroy();
  }
  throw new Error(`no granary tells its status at ${socketPath}`);
}

/** A killed daemon has left its endpoint file. */
async function untilListening(file: string, pid: number): Promise<void> {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text.includes(`"pid":${pid},`)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
