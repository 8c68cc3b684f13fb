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
import {
  type FurtherUsers,
  furtherUsersText,
  openFurtherUsers,
  removeTreeOfUsers,
} from "./further-users.ts";
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
import { ProgramStarter } from "./program-starter.ts";
import { RetryWindow } from "./retry-window.ts";
import { chooseSandbox } from "./sandbox/choose-sandbox.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { storeDirectoryIn } from "./store-directory.ts";
import { toolPath } from "./tool-path.ts";

/** The features of this machine, opened and ready for use. */
export interface Machine {
  readonly shell: HelperShell;
  /** Starts programs in the mounts of the helper shell; absent where only Node can. */
  readonly starter: ProgramStarter | undefined;
  readonly sandbox: Sandbox;
  readonly limiter: Limiter;
  /** Assigns CPUs to actions. */
  readonly cpus: CpuAssignments;
  readonly inputRoots: InputRoots;
  readonly local: LocalStore;
  readonly layers: LayerCache;
  /** Runs container images; absent when they are not configured, or impossible here. */
  readonly images: Images | undefined;
  /** The users that services in images can have. */
  readonly furtherUsers: FurtherUsers;
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
  const wantsUsers = settings.registries.trim() !== "";
  const { shell, why: whyShell, oneUser } = await chooseShell(settings.path, wantsUsers);
  const slots = await openSlots(settings);
  let starter: ProgramStarter | undefined;
  try {
    const starting = await ProgramStarter.open(shell, toolPath(settings.path), runDir);
    starter = starting.starter;
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
    const furtherUsers: FurtherUsers =
      images.images === undefined
        ? { kind: "one", why: "there are no images" }
        : await openFurtherUsers(settings, {
            shell,
            sandbox: sandbox.sandbox,
            runDir,
            refused: oneUser,
          });
    const defences = {
      parts: defencesOf(sandbox.stops, limits.limiter, settings),
      allowedCalls: settings.allowedCalls,
    };
    return {
      shell,
      starter,
      local,
      layers,
      images: images.images,
      furtherUsers,
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
        images:
          images.images === undefined
            ? images.text
            : `${images.text}; ${furtherUsersText(furtherUsers)}`,
        mounts: explained(shell.kind, whyShell),
        "job starter": explained(starter === undefined ? "Node" : "native", starting.why),
        isolation: isolationText(defences),
        "not stopped": notStoppedText(defences),
      },
      isReplaced: watchReplacement(runDir, shell),
      async close() {
        slots.close();
        await starter?.stop();
        await shell.stop();
        await removeTreeOfUsers(runDir);
        // Another worker of this process may still have its directory there.
        await rmdir(dirname(runDir)).catch(() => {});
      },
    };
  } catch (reason) {
    slots.close();
    await starter?.stop();
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

interface ChosenShell {
  readonly shell: HelperShell;
  /** Why it is of no better kind; for people. */
  readonly why: string;
  /** Why it has no further users; for people. */
  readonly oneUser: string;
}

async function chooseShell(path: string, wantsUsers: boolean): Promise<ChosenShell> {
  const refused: string[] = [];
  const start = (kind: HelperShell["kind"], furtherUsers = false) =>
    startHelperShell(kind, toolPath(path), furtherUsers);
  const chosen = (shell: HelperShell, oneUser = ""): ChosenShell => ({
    shell,
    why: refused.join("; "),
    oneUser,
  });
  for (const kind of ["own-mounts", "own-mounts-and-users", "plain"] as const) {
    if (kind === "own-mounts-and-users" && wantsUsers) {
      try {
        return chosen(await start(kind, true));
      } catch (reason) {
        const oneUser = `there are no further users (${messageOf(reason)}): install uidmap and util-linux 2.38, and give this user ids in /etc/subuid and /etc/subgid`;
        const plain = await start(kind).catch(() => undefined);
        if (plain !== undefined) return chosen(plain, oneUser);
      }
    }
    try {
      return chosen(await start(kind));
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
