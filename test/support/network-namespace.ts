import { execFile, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { promisify } from "node:util";
import type { Need } from "./needs/needs.ts";
import { programs } from "./needs/program.ts";

const run = promisify(execFile);

/**
 * Returns the missing needs of two networks: the program, and the permission to make namespaces.
 */
export function networkNamespaceNeeds(): readonly Need[] {
  const ip = programs("ip", { programs: ["ip"], packages: ["iproute2"] });
  const remedy = { kind: "root" } as const;
  const name = "a network namespace";
  if (ip.missing !== undefined) {
    const missing = process.getuid?.() === 0 ? undefined : "this is an ordinary user";
    return [ip, { name, missing, remedy }];
  }
  return [{ name, missing: whyNoNamespace(), remedy }];
}

function whyNoNamespace(): string | undefined {
  const name = `grange-probe-${process.pid}`;
  const made = spawnSync("ip", ["netns", "add", name], { encoding: "utf8" });
  if (made.status !== 0) return made.stderr.trim();
  spawnSync("ip", ["netns", "delete", name]);
  return undefined;
}

/** A second network: a namespace that is connected to this one by one virtual cable. */
export interface OtherNetwork {
  /** The address of this end of the cable. */
  readonly address: string;
  /** The prefix of a command line that runs it in the namespace. */
  readonly within: readonly string[];
  cut(): Promise<void>;
  /** Drops all packets of one side without an error; those of the other side arrive. */
  loseFrom(side: "here" | "there"): Promise<void>;
  mend(): Promise<void>;
  remove(): Promise<void>;
}

const toNobody = ["neigh", "replace", "lladdr", "02:00:00:00:00:01", "nud", "permanent", "to"];

export async function otherNetwork(): Promise<OtherNetwork> {
  const id = randomInt(0x10000).toString(16).padStart(4, "0");
  const name = `grange-${id}`;
  const [here, there] = [`grange-h${id}`, `grange-t${id}`];
  // One of 16,384 nets of four addresses, so that two runs seldom collide.
  const net = `10.213.${randomInt(256)}.`;
  const first = 4 * randomInt(64);
  const ip = (...args: readonly string[]) => run("ip", [...args]);
  await ip("netns", "add", name);
  try {
    await ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name);
    await ip("address", "add", `${net}${first + 1}/30`, "dev", here);
    await ip("-n", name, "address", "add", `${net}${first + 2}/30`, "dev", there);
    await ip("link", "set", here, "up");
    await ip("-n", name, "link", "set", "lo", "up");
    await ip("-n", name, "link", "set", there, "up");
  } catch (reason) {
    await ip("netns", "delete", name);
    throw reason;
  }
  return {
    address: `${net}${first + 1}`,
    within: ["ip", "netns", "exec", name],
    // The far end is disabled: the near one keeps its address, on which the farm listens.
    cut: async () => void (await ip("-n", name, "link", "set", there, "down")),
    // Packets to a hardware address that nobody has: the receiving side ignores them.
    loseFrom: async (side) =>
      void (await (side === "here"
        ? ip(...toNobody, `${net}${first + 2}`, "dev", here)
        : ip("-n", name, ...toNobody, `${net}${first + 1}`, "dev", there))),
    async mend() {
      await ip("neigh", "flush", "dev", here, "nud", "permanent");
      await ip("-n", name, "neigh", "flush", "dev", there, "nud", "permanent");
      await ip("-n", name, "link", "set", there, "up");
    },
    // The cable is removed with the namespace.
    remove: async () => void (await ip("netns", "delete", name)),
  };
}
