import { createHash, randomBytes } from "node:crypto";
import type { Access, Attacker, PoisonFarm } from "./poison-farm.ts";

/** How a tool names an entry over HTTP. */
interface CacheProtocol {
  readonly tool: string;
  /** Returns the path of a new entry, below the project. */
  readonly newPath: () => string;
}

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

/** The protocols of the tools. moon speaks Bazel's. */
export const protocols: readonly CacheProtocol[] = [
  { tool: "ccache", newPath: () => `/ccache/${hex(1)}/${hex(15)}` },
  { tool: "sccache", newPath: () => `/sccache/a/b/c/${hex(32)}` },
  { tool: "Turborepo", newPath: () => `/turborepo/v8/artifacts/${hex(8)}?slug=farm` },
  { tool: "Nx", newPath: () => `/nx/v1/cache/${BigInt(`0x${hex(8)}`)}` },
  { tool: "Go", newPath: () => `/gocache/${hex(32)}` },
  { tool: "Gradle", newPath: () => `/gradle/${hex(16)}` },
  { tool: "Maven", newPath: () => `/maven/v1.1/org.example/app/${hex(8)}/app.jar` },
  { tool: "moon", newPath: () => `/bazel/ac/${hex(32)}` },
  { tool: "Bazel", newPath: () => `/bazel/ac/${hex(32)}` },
  { tool: "dune", newPath: () => `/dune/v4/${hex(16)}` },
];

async function call({ cache, token }: Access, method: string, path: string, body?: string) {
  const answer = await fetch(`${cache}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

/**
 * Lets an attacker write and delete an entry before and after the CI wrote it. Returns everything that protected builds
 * read wrongly, and every write that should have been refused; an empty list if the cache held.
 */
export async function poisonOverHttp(
  farm: PoisonFarm,
  { newPath }: CacheProtocol,
  attacker: Attacker,
): Promise<string[]> {
  const by = farm.attackers[attacker];
  const [path, right, poison] = [newPath(), `right ${hex(8)}`, `poison ${hex(8)}`];
  const fell: string[] = [];
  const victims = [farm.ci, farm.main];
  const expectRead = async (when: string, wanted: string | undefined) => {
    for (const victim of victims) {
      const { status, text } = await call(victim, "GET", path);
      const isRight = wanted === undefined ? status === 404 : status === 200 && text === wanted;
      if (!isRight) fell.push(`${when}: a protected build read ${status} ${text.slice(0, 60)}`);
    }
  };
  const write = async (when: string) => {
    const { status } = await call(by, "PUT", path, poison);
    // A pull request may write into its own domain; the others may write nothing.
    if (attacker !== "pull request" && status < 400)
      fell.push(`${when}: the write was answered ${status}`);
  };

  await write("before the CI");
  await expectRead("before the CI", undefined);
  await call(farm.ci, "PUT", path, right);
  await write("after the CI");
  await call(by, "DELETE", path);
  await expectRead("after the CI", right);
  if (attacker === "pull request" && !path.startsWith("/nx/")) {
    // Otherwise nothing was tried: the poison lies in the attacker's own domain, or was deleted there.
    await call(by, "PUT", path, poison);
    const own = await call(by, "GET", path);
    if (own.text !== poison) fell.push(`its own entry is read as ${own.status}`);
  }
  fell.push(...(await poisonBlob(farm, by, path, poison)));
  await expectRead("at the end", right);
  return fell;
}

/** Bazel's blobs have no domain: their name must be the hash of their bytes. */
async function poisonBlob(
  farm: PoisonFarm,
  by: Access,
  path: string,
  poison: string,
): Promise<string[]> {
  if (!path.startsWith("/bazel/")) return [];
  const bytes = `a blob ${hex(8)}`;
  const at = `/bazel/cas/${createHash("sha256").update(bytes).digest("hex")}`;
  const { status } = await call(by, "PUT", at, poison);
  const read = await call(farm.ci, "GET", at);
  return status < 400 || read.status !== 404 ? [`a blob was taken under another's hash`] : [];
}
