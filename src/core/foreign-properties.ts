import type { Platform } from "./platform.ts";

/** What the farm does with a property that other services of remote execution know. */
interface ForeignProperty {
  readonly name: string;
  /** Returns why an action with this value is refused; undefined for a value that is obeyed or has no effect. */
  readonly problem: (value: string) => string | undefined;
}

const isOn = (value: string) =>
  !["", "false", "0", "no", "off", "none"].includes(value.toLowerCase());

const refusedWhenOn =
  (why: string) =>
  (value: string): string | undefined =>
    isOn(value) ? why : undefined;

const ignored = () => undefined;

/** Settings of machines that run one action after another, estimates, and names of machines' owners: all have no effect. */
const ignoredNames = [
  // Part of the action, so it divides the action cache as it does elsewhere.
  "cache-silo-key",
  "clean-workspace-inputs",
  "dockerInit",
  "dockerDropCapabilities",
  "dockerReuse",
  "dockerRuntime",
  "dockerShmSize",
  "dockerUlimits",
  "dockerUser",
  "EstimatedCPU",
  "EstimatedComputeUnits",
  "EstimatedFreeDiskBytes",
  "EstimatedMemory",
  "nonroot-workspace",
  // Workers with `--persistent-workers` read them; no worker must offer them.
  "persistentWorkerKey",
  "persistentWorkerProtocol",
  "preserve-workspace",
  "recycle-runner",
  "runner-recycling-key",
  "runner-user",
  "use-self-hosted-executors",
];

/** The property by which clients of services with Docker ask for the network: `standard` or `off`. */
export const dockerNetworkProperty = "dockerNetwork";

/** No worker offers these: the farm obeys them, ignores them, or refuses the action. `docs/containers.md` lists them. */
export const foreignProperties: readonly ForeignProperty[] = [
  {
    name: dockerNetworkProperty,
    problem: (value) =>
      ["off", "none", "standard", "bridge"].includes(value)
        ? undefined
        : "it must be off or standard; an action cannot use the network of its machine directly",
  },
  { name: "dockerPrivileged", problem: refusedWhenOn("no action has privileges on the machine") },
  { name: "dockerRunAsRoot", problem: refusedWhenOn("actions run as one ordinary user") },
  {
    name: "dockerSiblingContainers",
    problem: refusedWhenOn("actions have no access to a Docker engine"),
  },
  { name: "dockerAddCapabilities", problem: refusedWhenOn("no action has capabilities") },
  { name: "init-dockerd", problem: refusedWhenOn("actions have no access to a Docker engine") },
  { name: "include-secrets", problem: refusedWhenOn("only jobs of graphs get secrets") },
  {
    name: "workload-isolation-type",
    problem: (value) =>
      value.toLowerCase() === "firecracker"
        ? "actions run in a sandbox, and not in a virtual machine"
        : undefined,
  },
  ...ignoredNames.map((name) => ({ name, problem: ignored })),
];

/** Returns why an action with these properties is refused, by the first property that cannot be obeyed. */
export function problemOfForeignProperties(platform: Platform): string | undefined {
  for (const { name, problem } of foreignProperties) {
    const value = platform[name];
    const why = value === undefined ? undefined : problem(value);
    if (why !== undefined) return `${name}=${value} is refused: ${why}`;
  }
  return undefined;
}
