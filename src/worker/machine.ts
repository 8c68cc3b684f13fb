import { mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";
import { ownOwner } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import type { Defence } from "./attacks/attack-list.ts";
import { type Defences, notStoppedText } from "./attacks/attacks-not-stopped.ts";
import { isolationText } from "./attacks/isolation-of.ts";
import type { WorkerConfig } from "./config.ts";
import { watchReplacement } from "./data-directory.ts";
import { type HelperShell, startHelperShell } from "./helper-shell.ts";
import { type Images, openImages } from "./image/oci/open-images.ts";
import { chooseInputRoots } from "./input-root/choose-input-roots.ts";
import type { InputRoots } from "./input-root/input-root.ts";
import { LayerCache } from "./input-root/layer-cache.ts";
import { chooseLimiter } from "./limits/choose-limiter.ts";
import type { CpuAssignments } from "./limits/cpu-assignments.ts";
import type { Limiter } from "./limits/limits.ts";
import { openSlots } from "./limits/slots.ts";
import { LocalStore } from "./local-store.ts";
import { RetryWindow } from "./retry-window.ts";
import { chooseSandbox } from "./sandbox/choose-sandbox.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { storeDirectoryIn } from "./store-directory.ts";
import { toolPath } from "./tool-path.ts";

/** The features of this machine, opened and ready for use. */
export interface Machine {
  readonly shell: HelperShell;
  readonly sandbox: Sandbox;
  readonly limiter: Limiter;
  /** Assigns CPUs to actions. */
  readonly cpus: CpuAssignments;
  readonly inputRoots: InputRoots;
  readonly local: LocalStore;
  readonly layers: LayerCache;
  /** Runs container images; absent when they are not configured, or impossible here. */
  readonly images: Images | undefined;
  /** For transfers of blobs. */
  readonly retryWindow: RetryWindow;
  /** This process's directory for the files that jobs need while they run. */
  readonly runDir: string;
  /** What it has against attacks of jobs. */
  readonly defences: Defences;
  /** The chosen mechanisms and the reasons against better ones, for people. */
  readonly facilities: Readonly<Record<string, string>>;
  /** Whether the data directory was replaced since the machine was opened: a disk was mounted there, or unmounted. */
  isReplaced(): boolean;
  close(): Promise<void>;
}

type MachineSettings = Pick<
  WorkerConfig,
  | "dataDir"
  | "path"
  | "homeDir"
  | "shownPaths"
  | "hiddenPaths"
  | "sandbox"
  | "allowRootJobs"
  | "allowedCalls"
  | "allowsNamespaces"
  | "privateNetwork"
  | "slots"
  | "cpus"
  | "memoryBytes"
  | "diskBytes"
  | "registries"
  | "registryAuth"
  | "imageKeys"
  | "privateHosts"
  | "imageBytes"
>;

/** Finds the best features that the kernel permits, by trying them; versions are not considered. */
export async function openMachine(
  settings: MachineSettings,
  retryWindow = new RetryWindow(),
): Promise<Machine> {
  const { dataDir } = settings;
  makeDirectory(dataDir, 0o700);
  makePrivateDirectory(join(dataDir, "run"));
  makeDirectory(join(dataDir, "run", ownOwner()));
  const runDir = await mkdtemp(join(dataDir, "run", ownOwner(), "w-"));
  const storeDir = storeDirectoryIn(dataDir);
  const local = await LocalStore.open(storeDir, retryWindow);
  const layers = await LayerCache.open(storeDir, local);
  const { shell, why: whyShell } = await chooseShell(settings.path);
  const slots = await openSlots(settings);
  try {
    const [roots, sandbox, limits] = [
      await chooseInputRoots(shell, layers, local, runDir),
      await chooseSandbox(shell, settings, runDir),
      await chooseLimiter({ givesCpus: settings.cpus !== undefined, taskset: slots.taskset }),
    ];
    const images = await openImages(settings, {
      sandbox: sandbox.sandbox,
      stepsInImages: sandbox.stepsInImages,
      directory: join(storeDir, "images"),
      runDir,
    });
    const defences = {
      parts: defencesOf(sandbox.stops, limits.limiter, settings),
      allowedCalls: settings.allowedCalls,
    };
    return {
      shell,
      local,
      layers,
      images: images.images,
      retryWindow,
      runDir,
      sandbox: sandbox.sandbox,
      limiter: limits.limiter,
      cpus: slots.book,
      inputRoots: roots.inputRoots,
      defences,
      facilities: {
        sandbox: explained(sandbox.name, sandbox.why),
        "job user": sandbox.user,
        network: sandbox.network,
        "system calls": sandbox.systemCalls,
        limits: explained(`${limits.limiter.kind} (${limits.limiter.can.join(", ")})`, limits.why),
        slots: slots.told(limits.limiter),
        inputs: explained(roots.inputRoots.kind, roots.why),
        images: images.text,
        mounts: explained(shell.kind, whyShell),
        isolation: isolationText(defences),
        "not stopped": notStoppedText(defences),
      },
      isReplaced: watchReplacement(runDir, shell),
      async close() {
        slots.close();
        await shell.stop();
        await removeTree(runDir);
        // Another worker of this process may still have its directory there.
        await rmdir(dirname(runDir)).catch(() => {});
      },
    };
  } catch (reason) {
    slots.close();
    await shell.stop();
    await removeTree(runDir);
    throw reason;
  }
}

/** Returns the text that `grange doctor` prints about this machine. Leaves no files or processes. */
export async function probeFacilities(
  settings: MachineSettings,
): Promise<Readonly<Record<string, string>>> {
  const machine = await openMachine(settings);
  await machine.close();
  return machine.facilities;
}

async function chooseShell(path: string): Promise<{ shell: HelperShell; why: string }> {
  const refused: string[] = [];
  for (const kind of ["own-mounts", "own-mounts-and-users", "plain"] as const) {
    try {
      return { shell: await startHelperShell(kind, toolPath(path)), why: refused.join("; ") };
    } catch (reason) {
      refused.push(`${kind}: ${messageOf(reason)}`);
    }
  }
  throw new Error(`no shell can be started: ${refused.join("; ")}`);
}

function defencesOf(
  stops: readonly Defence[],
  limiter: Limiter,
  { memoryBytes, diskBytes }: MachineSettings,
): ReadonlySet<Defence> {
  return new Set<Defence>([
    "worker",
    ...stops,
    ...(limiter.can.includes("processes") ? (["process limit"] as const) : []),
    ...(memoryBytes === undefined ? [] : (["memory limit"] as const)),
    ...(diskBytes === undefined ? [] : (["disk quota"] as const)),
  ]);
}

function explained(what: string, whyNoBetter: string): string {
  return whyNoBetter === "" ? what : `${what}, since ${whyNoBetter.replaceAll(/\s+/g, " ")}`;
}
