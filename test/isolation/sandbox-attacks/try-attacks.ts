import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { type AttackName, attackNames, type Defence } from "#worker/attacks/attack-list.ts";
import { attacksNotStopped } from "#worker/attacks/attacks-not-stopped.ts";
import type { FakeJob } from "#worker/fake-farm.fixture.ts";
import { quoteForShell } from "#worker/quote-for-shell.ts";
import { JobsRun, runJobsCommand } from "#worker/run-jobs.fixture.ts";
import { untilNoProcessWith } from "../../support/processes-with.ts";
import { fileTrials } from "./file-trials.ts";
import { jobTrials, unchangedInput } from "./job-trials.ts";
import { kernelTrials } from "./kernel-trials.ts";
import { processTrials } from "./process-trials.ts";
import { type Scene, setScene, slot } from "./scene.ts";
import { socketTrials } from "./socket-trials.ts";
import type { JobTrial, ScriptTrial } from "./trial.ts";

const run = promisify(execFile);

const scriptTrials = {
  ...fileTrials,
  ...processTrials,
  ...socketTrials,
  ...kernelTrials,
} satisfies Partial<Record<AttackName, ScriptTrial>>;

/** The compiler refuses an attack of the list without a trial, and a trial without an attack. */
type ScriptName = keyof typeof scriptTrials;
type JobName = Exclude<AttackName, ScriptName>;
const trialsOf = (scene: Scene): Readonly<Record<JobName, JobTrial>> => jobTrials(scene);

const scriptNames = Object.keys(scriptTrials) as ScriptName[];
const jobNames = attackNames.filter((name): name is JobName => !(name in scriptTrials));

/** Attacks that show without a sandbox that their scripts work. */
export const provenNames: readonly AttackName[] = scriptNames.filter(
  (name) => trialNamed(name).withoutSandbox === "succeeds",
);

interface AttackedWorker {
  readonly sandbox: "bubblewrap" | "namespaces" | "none";
  /** The prefix of a command that runs it as the worker's user. */
  readonly asUser: readonly string[];
  /** The bundled program of `run-jobs.fixture.ts`. */
  readonly program: string;
}

interface Attacked {
  readonly facilities: Readonly<Record<string, string>>;
  /** The attacks of which the list says that this worker stops them. */
  readonly promised: readonly AttackName[];
  /** The attacks that were tried and succeeded. */
  readonly fell: readonly AttackName[];
  readonly tried: readonly AttackName[];
}

/** Runs the attacks of the list on a worker. Without a sandbox only those that do no harm. */
export async function tryAttacks({ sandbox, asUser, program }: AttackedWorker): Promise<Attacked> {
  const scene = await setScene(asUser);
  try {
    const hasSandbox = sandbox !== "none";
    const scripts = hasSandbox
      ? scriptNames
      : scriptNames.filter((name) => provenNames.includes(name));
    const trials = trialsOf(scene);
    const command = runJobsCommand(program, {
      sandbox,
      settings: {
        ...slot,
        slots: 2,
        dataDir: scene.dataDir,
        homeDir: scene.homeDir,
        shownPaths: [scene.shownDir],
        killGraceMs: 100,
      },
      beside: neighbour(scene),
      environment: scene.environment,
      jobs: [
        scriptJob(scripts.filter((name) => !trialNamed(name).network)),
        {
          ...scriptJob(scripts.filter((name) => trialNamed(name).network)),
          platform: { network: "on" },
        },
        ...(hasSandbox ? [...jobNames.map((name) => trials[name].job), unchangedInput.job] : []),
      ],
    });
    const { stdout } = await run("env", ["GRANGE_WORKER_SECRET=1", ...asUser, ...command], {
      timeout: 280_000,
      maxBuffer: 2 ** 26,
    });
    scene.assertVictimLives();
    const { facilities, ended, defences } = JobsRun.parse(JSON.parse(stdout));
    await untilNoProcessWith(`A_LEFT=${scene.mark}`);
    const parts = new Set(defences as Defence[]);
    const [first, second, ...others] = ended;
    const results = new Map<string, boolean>(
      `${first?.stdout}${second?.stdout}`
        .split("\n")
        .map((line) => /^(fell|held) (.*)$/.exec(line))
        .flatMap((found) => (found === null ? [] : [[found[2] ?? "", found[1] === "held"]])),
    );
    const cores = await coreFilesBelow(scene.dataDir);
    if (hasSandbox) {
      for (const [at, name] of jobNames.entries()) {
        const seen = others[at];
        results.set(name, seen !== undefined && trials[name].isHeld(seen));
      }
      if (cores.length > 0) results.set("leaves a core dump", false);
      const last = others.at(-1);
      if (last === undefined || !unchangedInput.isHeld(last))
        results.set("changes an input of the next job", false);
    }
    const tried = attackNames.filter((name) => results.has(name));
    return {
      facilities,
      tried,
      fell: tried.filter((name) => results.get(name) === false),
      promised: attackNames.filter(
        (name) => !attacksNotStopped({ parts, allowedCalls: [] }).includes(name),
      ),
    };
  } finally {
    await scene.remove();
  }
}

/** Prints for each attack whether it succeeded. */
function scriptJob(names: readonly ScriptName[]): FakeJob {
  const lines = names.map(
    (name, at) => `try ${at} ${quoteForShell(name)} ${quoteForShell(trialNamed(name).script)}`,
  );
  const attempt =
    'if mkdir "$1" && (cd "$1" && timeout 20 sh -c "$3") >/dev/null 2>&1 </dev/null; then echo "fell $2"; else echo "held $2"; fi';
  return {
    script: [
      'A_PIPES=$(dirname "$(readlink /proc/self/fd/2)"); export A_PIPES',
      `try() { ${attempt}; }`,
      ...lines,
    ].join("\n"),
    timeoutMs: 120_000,
  };
}

/** The job that runs at the same time as the attackers. */
function neighbour({ mark, portOfJob }: Scene): { readonly job: FakeJob; readonly prints: string } {
  const listen = `require("net").createServer((socket) => socket.end()).listen(${portOfJob}, "127.0.0.1", () => console.log("ready"))`;
  return {
    job: {
      script: `for d in /tmp /dev/shm "$HOME" .; do : > "$d/${mark}"; done; exec node -e '${listen}'`,
      timeoutMs: 600_000,
    },
    prints: "ready",
  };
}

async function coreFilesBelow(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => /(?:^|\/)core(?:\.\d+)?$/.test(name));
}

function trialNamed(name: ScriptName): ScriptTrial {
  return scriptTrials[name];
}
