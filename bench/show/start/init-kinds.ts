import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { messageOf } from "#core/fault.ts";
import { runProgram } from "../../../test/support/process.ts";
import { registryEnvironment } from "../../../test/support/registry-environment.ts";
import type { Measurement, Row } from "../row.ts";
import { type KindOfProject, kindsOfProjects } from "./kinds-of-projects.ts";

const run = promisify(execFile);

/** The answer of `grange init --json`. */
const Written = z.object({ files: z.array(z.object({ jobs: z.array(z.string()) })) });

/** The last line of `grange up --once --json`. */
const LastLine = z.object({ state: z.string(), seconds: z.number() });

interface Outcome {
  readonly kind: string;
  readonly isGreen: boolean;
  /** The result, for people: `green in 12 s`, or the reason. */
  readonly told: string;
}

/** How far `grange init` alone gets with a project of each kind. */
export const initKinds: Measurement = {
  title: "grange init",
  long: true,
  measure: () => initKindRows(),
};

/**
 * Creates a project of each kind, with dependencies from registries if its users have some, and runs `grange init`,
 * `git commit` and `grange up --once --json` on it. Nothing is edited in between.
 */
async function initKindRows(
  grange: readonly string[] = [process.execPath, join(process.cwd(), "bin/grange.mjs")],
): Promise<Row[]> {
  const outcomes: Outcome[] = [];
  for (const kind of kindsOfProjects) {
    process.stderr.write(`  ${kind.name} …\n`);
    const outcome = await tryKind(kind, grange).catch((cause: unknown) => ({
      kind: kind.name,
      isGreen: false,
      told: messageOf(cause).slice(0, 300),
    }));
    process.stderr.write(`  ${outcome.kind}: ${outcome.told}\n`);
    outcomes.push(outcome);
  }
  const green = outcomes.filter(({ isGreen }) => isGreen).length;
  const told = outcomes.map(({ kind, told: what }) => `${kind}: ${what}`).join("; ");
  return [
    {
      name: "grange init: kinds of project that are green without an edit",
      figure: green,
      unit: `of ${kindsOfProjects.length}`,
      goal: "10 green; no edit for 8",
      holds: green >= kindsOfProjects.length,
      how: `git init; grange init; git commit; grange up --once --json, for each kind, with packages from registries. ${told}`,
    },
  ];
}

async function tryKind(kind: KindOfProject, grange: readonly string[]): Promise<Outcome> {
  const top = await mkdtemp(join(tmpdir(), "grange-kind-"));
  try {
    const project = join(top, "project");
    for (const [path, text] of Object.entries(kind.files)) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), text);
    }
    for (const line of kind.prepare ?? [])
      await run("sh", ["-e", "-c", line], {
        cwd: project,
        env: { ...process.env, ...registryEnvironment() },
      });
    const git = (...args: string[]) => run("git", ["-C", project, ...args]);
    const commit = async (subject: string) => {
      await git("add", "--all");
      await git(
        "-c",
        "user.name=A. Author",
        "-c",
        "user.email=author@example.org",
        "commit",
        "-qm",
        subject,
      );
    };
    await git("init", "--quiet");
    await commit("First");
    const [program = "", ...args] = grange;
    const written = await runProgram(program, [...args, "init", "--json"], { cwd: project });
    if (written.code !== 0) throw new Error(written.stderr);
    const { files } = Written.parse(JSON.parse(written.stdout));
    const jobs = files.flatMap((file) => file.jobs);
    const lacking = kind.jobs.filter((name) => !jobs.includes(name));
    if (lacking.length > 0)
      throw new Error(`init wrote no job ${lacking.join(", ")}, but ${jobs.join(", ")}`);
    await commit("Describe the jobs");
    const ended = await runProgram(
      program,
      [...args, "up", "--once", "--json", "--port", "0", "--data", join(top, "data")],
      { cwd: project, env: registryEnvironment() },
    );
    const line = ended.stdout.trim().split("\n").at(-1) ?? "";
    if (!line.startsWith("{")) throw new Error(ended.stderr.slice(-1_000));
    const { state, seconds } = LastLine.parse(JSON.parse(line));
    const failed = ended.stderr.split("\n").filter((text) => text.startsWith("✗"));
    return {
      kind: kind.name,
      isGreen: state === "succeeded",
      told:
        state === "succeeded"
          ? `${jobs.length} jobs green in ${Math.round(seconds)} s`
          : `${state} (${failed.join(", ")})`,
    };
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}
