import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { compileGlobs } from "#git/glob.ts";
import { makeDirectory } from "#machine/make-directory.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { copiedInputRoots, type InputRoots } from "#worker/input-root/input-root.ts";
import { recordsAccess } from "./access-record.ts";
import { CheckoutJobs, type CheckoutSettings } from "./checkout-jobs.ts";
import { compareInputs, type InputsFound } from "./compare-inputs.ts";
import { refuseFarmJobs } from "./job-order.ts";
import type { LocalEnd } from "./local-executor.ts";
import { pathsNamed } from "./paths-named.ts";
import { type RunObserver, runInOrder } from "./run-jobs.ts";
import { type TracedInputRoots, tracedInputRoots } from "./traced-input-roots.ts";
import { jobNamed } from "./working-definitions.ts";

interface TraceRequest extends Omit<CheckoutSettings, "withNeeds"> {
  readonly job: string;
  /** Whether the job runs once more with the found inputs. */
  readonly confirm: boolean;
  readonly signal: AbortSignal;
}

/** The result of running the job with the found inputs only. */
type Confirmation =
  | { readonly kind: "not-asked-for" }
  /** The job ended as with the whole checkout. */
  | { readonly kind: "same" }
  /** The job ended differently, and no file named in its messages would change that. */
  | { readonly kind: "different"; readonly end: LocalEnd; readonly log: string };

/** The files that a job reads, compared with its declared ones. */
export interface InputsTrace extends InputsFound {
  readonly job: string;
  /** Files that it does not read, but needs: a run without them ended differently and named them. */
  readonly requested: readonly string[];
  /** The end with the whole checkout visible, and the output. */
  readonly end: LocalEnd;
  readonly log: string;
  /** The number of files of the checkout that it read. */
  readonly readFiles: number;
  readonly confirmation: Confirmation;
}

interface TraceObserver {
  /** Called before each run of the job. */
  readonly begins: (what: "tracing" | "confirming") => void;
  /** Observes the needed jobs. */
  readonly needs: RunObserver;
}

interface Attempt {
  readonly end: LocalEnd;
  readonly log: string;
}

/** A failed run names its missing files, and is repeated with them; at most this often. */
const mostConfirmations = 4;

/**
 * Runs a job with all files of the checkout visible, and finds those that it reads. The job runs in its usual sandbox,
 * on a copy of the checkout whose access times show the reads.
 */
export async function traceInputs(
  request: TraceRequest,
  observer: TraceObserver,
): Promise<InputsTrace> {
  const { job, config, signal } = request;
  const place = await placeForTraces(config.dataDir);
  let roots: SwitchedRoots | undefined;
  const checkout = await CheckoutJobs.open(
    { ...request, withNeeds: false, config: { ...config, dataDir: place.dataDir } },
    (working) => refuseUntraceable(job, jobNamed(working, job)),
    (machine) => {
      roots = switchedRoots(machine.inputRoots, tracedInputRoots(copiedInputRoots(machine.local)));
      return roots;
    },
  );
  try {
    const needed = checkout.orderOf([job]).filter((name) => name !== job);
    const ends = await runInOrder(checkout, needed, { parallel: 1, signal }, observer.needs);
    for (const [name, end] of ends) {
      if (end.kind === "skipped" || (end.kind === "ran" && !end.succeeded))
        throw new Fault(
          "failed_precondition",
          `job "${name}", which "${job}" needs, did not succeed`,
        );
    }
    const attempt = async (definition: JobDefinition, every: boolean): Promise<Attempt> => {
      const printed: Uint8Array[] = [];
      const print = (bytes: Uint8Array) => void printed.push(bytes);
      const end = await checkout.executeAs(definition, { print, signal, every });
      return { end, log: Buffer.concat(printed).toString() };
    };

    const definition = checkout.definitionOf(job);
    observer.begins("tracing");
    roots?.trace(definition.outputs ?? []);
    // Without outputs, because storing them would read files after the job.
    const { outputs: _, ...withoutOutputs } = definition;
    const traced = await attempt(withoutOutputs, true);
    const accesses = await roots?.traced();
    if (accesses === undefined || signal.aborted)
      throw new Fault("cancelled", "the job was stopped before it was known what it reads");

    const paths = checkout.files.map(({ path }) => path);
    const outputsOf = (name: string) => checkout.definitionOf(name).outputs ?? [];
    const found = compareInputs(paths, definition, outputsOf, accesses);
    const readFiles = paths.filter((path) => accesses.read.has(path)).length;
    const facts = { job, ...found, readFiles, ...traced };
    if (!request.confirm)
      return { ...facts, requested: [], confirmation: { kind: "not-asked-for" } };
    observer.begins("confirming");
    return { ...facts, ...(await confirm(definition, found, traced, paths, attempt)) };
  } finally {
    await checkout.close();
    if (place.isOwn) await removeTree(place.dataDir);
  }
}

/**
 * Runs the job with only the found inputs. When it ends differently, adds files that its messages name, and then
 * declared files that it did not read, because it may check whether they exist.
 */
async function confirm(
  definition: JobDefinition,
  found: InputsFound,
  traced: Attempt,
  paths: readonly string[],
  attempt: (definition: JobDefinition, every: boolean) => Promise<Attempt>,
): Promise<Pick<InputsTrace, "requested" | "unused" | "proposal" | "confirmation">> {
  const { outputs: _, ...withoutOutputs } = definition;
  let { proposal, unused } = found;
  const requested: string[] = [];
  for (let times = 1; ; times++) {
    const again = await attempt({ ...withoutOutputs, inputs: [...proposal] }, false);
    const { end, log } = again;
    if (end.succeeded === traced.end.succeeded && end.exitCode === traced.end.exitCode)
      return { requested, unused, proposal, confirmation: { kind: "same" } };
    const given = new Set(filesMeant(paths, proposal));
    const absent = paths.filter((path) => !given.has(path));
    const named = pathsNamed(log, absent).filter((path) => !requested.includes(path));
    if (times === mostConfirmations || (named.length === 0 && unused.length === 0))
      return { requested, unused, proposal, confirmation: { kind: "different", end, log } };
    if (named.length > 0) {
      // A directory in a message may be the parent of a declared file that was not read.
      const means = (pattern: string, path: string) =>
        filesMeant(paths, [pattern]).some((file) => file === path || file.startsWith(`${path}/`));
      const declared = unused.filter((pattern) => named.some((path) => means(pattern, path)));
      const added = named.filter((path) => !declared.some((pattern) => means(pattern, path)));
      requested.push(...added);
      unused = unused.filter((pattern) => !declared.includes(pattern));
      proposal = [...proposal, ...declared, ...added];
    } else {
      proposal = [...proposal, ...unused];
      unused = [];
    }
  }
}

function filesMeant(paths: readonly string[], patterns: readonly string[]): string[] {
  const isMeant = compileGlobs(patterns);
  return patterns.length === 0 ? [] : paths.filter(isMeant);
}

function refuseUntraceable(name: string, definition: JobDefinition): void {
  refuseFarmJobs(name, definition);
  if (definition.kind === "join")
    throw new Fault("invalid_argument", `job "${name}" is of the kind "join": it reads nothing`);
  if (definition["inputs-from"] !== undefined) {
    const message = `the inputs of job "${name}" are found by another job: there is no list to correct`;
    throw new Fault("failed_precondition", message);
  }
}

/** The usual directory for inputs if its file system records reads, otherwise another one that does. */
async function placeForTraces(
  dataDir: string,
): Promise<{ readonly dataDir: string; readonly isOwn: boolean }> {
  makeDirectory(dataDir, 0o700);
  if (recordsAccess(dataDir)) return { dataDir, isOwn: false };
  for (const other of [tmpdir(), "/dev/shm"]) {
    if (recordsAccess(other))
      return { dataDir: await mkdtemp(join(other, "grange-trace-")), isOwn: true };
  }
  throw new Fault(
    "failed_precondition",
    `no file system here records when files are read: ${dataDir}, ${tmpdir()} and /dev/shm are mounted with "noatime". ` +
      'Name a directory of one that does with --data, or mount one with "relatime"',
  );
}

interface SwitchedRoots extends InputRoots {
  /** Records which files of the next root are read; the directories of these outputs are created in it. */
  trace(outputs: readonly string[]): void;
  traced(): ReturnType<TracedInputRoots["latest"]>;
}

/** Input roots as a worker makes them, except the traced one. */
function switchedRoots(usual: InputRoots, traced: TracedInputRoots): SwitchedRoots {
  let outputs: readonly string[] | undefined;
  return {
    kind: usual.kind,
    filesOf: (root, farm) => usual.filesOf(root, farm),
    trace: (next) => {
      outputs = next;
    },
    traced: () => traced.latest(),
    async make(root, scratch, farm) {
      if (outputs === undefined) return usual.make(root, scratch, farm);
      const directories = outputs.map(dirname);
      outputs = undefined;
      const made = await traced.make(root, scratch, farm);
      for (const directory of directories) makeDirectory(join(made.seen, directory));
      return made;
    },
  };
}
