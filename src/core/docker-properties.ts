import type { Platform } from "./platform.ts";

/** What the farm does with a property that services with Docker know. */
interface DockerProperty {
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

/** The property by which clients of services with Docker ask for the network: `standard` or `off`. */
export const dockerNetworkProperty = "dockerNetwork";

/** No worker offers these: the farm obeys them, ignores them, or refuses the action. `docs/containers.md` lists them. */
export const dockerProperties: readonly DockerProperty[] = [
  {
    name: dockerNetworkProperty,
    problem: (value) =>
      ["off", "none", "standard", "bridge"].includes(value)
        ? undefined
        : "it must be off or standard; an action cannot use the network of its machine directly",
  },
  { name: "dockerPrivileged", problem: refusedWhenOn("no action has privileges on the machine") },
  { name: "dockerRunAsRoot", problem: refusedWhenOn("actions run as one ordinary user") },
  { name: "dockerSiblingContainers", problem: refusedWhenOn("there is no Docker to talk to") },
  { name: "dockerAddCapabilities", problem: refusedWhenOn("no action has capabilities") },
  { name: "dockerDropCapabilities", problem: ignored },
  { name: "dockerRuntime", problem: ignored },
  { name: "dockerShmSize", problem: ignored },
  { name: "dockerUlimits", problem: ignored },
  { name: "dockerUser", problem: ignored },
  { name: "dockerReuse", problem: ignored },
  { name: "runner-user", problem: ignored },
];

/** Returns why an action with these properties is refused, by the first property that cannot be obeyed. */
export function problemOfDockerProperties(platform: Platform): string | undefined {
  for (const { name, problem } of dockerProperties) {
    const value = platform[name];
    const why = value === undefined ? undefined : problem(value);
    if (why !== undefined) return `${name}=${value} is refused: ${why}`;
  }
  return undefined;
}
