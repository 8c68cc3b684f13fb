import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { openGranary } from "./granary-lab.ts";
import { maliceAgainst, startHostileFarm } from "./hostile-farm.ts";
import { sh } from "./project.ts";
import { watchMemory } from "./watch-memory.ts";

const sources = 40;
/** A granary unpacks, hashes and writes some tens of MiB at a time; an index may have 64 MiB, and is decoded. */
const mostGrowthMiB = 768;
const limitMiB = 64;

/** A build that makes the results that its cache lacks, and reports wrong results. */
const tool = `
import { createHash } from "node:crypto";
const cache = process.env.CCACHE_REMOTE_STORAGE?.split("|")[0];
let made = 0, wrong = 0;
for (let n = 0; n < ${sources}; n++) {
  const key = createHash("sha256").update("source " + n).digest("hex").slice(0, 40);
  const address = cache && cache + "/" + key.slice(0, 2) + "/" + key.slice(2);
  const found = address && (await fetch(address).catch(() => undefined));
  const given = found?.status === 200 ? await found.text().catch(() => undefined) : undefined;
  if (given === "made of source " + n) continue;
  if (given !== undefined) wrong++;
  await found?.arrayBuffer().catch(() => {});
  made++;
  if (address) await fetch(address, { method: "PUT", body: "made of source " + n }).catch(() => {});
}
console.log(made + " made, " + wrong + " wrong");
process.exit(wrong > 0 ? 3 : 0);
`;

/** The attacks of a malicious farm on a machine's granary: no wrong result is returned, and the build continues. */
export const hostileFarms: Measurement = {
  title: "hostile farms",
  long: false,
  async measure() {
    const work = await mkdtemp(join(tmpdir(), "grange-hostile-"));
    const right = new Map(
      Array.from({ length: sources }, (_, n) => {
        const key = createHash("sha256").update(`source ${n}`).digest("hex").slice(0, 40);
        return [`${key.slice(0, 2)}/${key.slice(2)}`, Buffer.from(`made of source ${n}`)];
      }),
    );
    const farm = await startHostileFarm([...right.values()]);
    try {
      const path = join(work, "checkout");
      await mkdir(path, { recursive: true });
      await writeFile(join(path, "tool.mjs"), tool);
      sh(
        path,
        "git init -q -b main && git add -A && git -c user.name=show -c user.email=show@example.org commit -qm 0",
      );
      return await suffer(work, path, farm, right);
    } finally {
      await farm.stop();
      await rm(work, { recursive: true, force: true });
    }
  },
};

async function suffer(
  work: string,
  path: string,
  farm: Awaited<ReturnType<typeof startHostileFarm>>,
  right: ReadonlyMap<string, Uint8Array>,
): Promise<Row[]> {
  const all = maliceAgainst(right);
  const failed: string[] = [];
  const grown: string[] = [];
  let mostGrown = 0;
  let mostStored = 0;
  let longestMs = 0;
  for (const [n, malice] of all.entries()) {
    farm.malice = malice;
    const data = join(work, `granary-${n}`);
    const granary = await openGranary(data, farm, { more: ["--limit", `${limitMiB}M`] });
    const memory = await watchMemory(granary.program.pid);
    // The second round uses the data of the first, good and bad.
    for (const round of [1, 2]) {
      const command = [process.execPath, "tool.mjs"];
      let run = await granary.exec(command, { cwd: path });
      // No build waits long for a granary; on a busy machine the farm is not the cause.
      for (let again = 0; again < 3 && run.text.includes("without a granary"); again++) {
        run = await granary.exec(command, { cwd: path });
      }
      const { code, text, wallMs } = run;
      longestMs = Math.max(longestMs, wallMs);
      const isRight = code === 0 && text.includes(" 0 wrong");
      if (!isRight || (round === 2 && !text.includes("0 made"))) {
        failed.push(`${malice.name}, build ${round}: ${text.slice(-200)}`);
      }
    }
    memory.passed(malice.name);
    const { grownMiB } = memory.stop();
    grown.push(`${malice.name} ${Math.round(grownMiB)}`);
    mostGrown = Math.max(mostGrown, grownMiB);
    mostStored = Math.max(mostStored, Number(sh(data, "du -sm . | cut -f1")));
    await granary.stop();
  }
  const how = `${all.length} farms, two builds before each; ${failed.join("; ") || "none failed"}`;
  return [
    exactly(
      "hostile farms: builds green, nothing wrong given, the second from the granary",
      2 * all.length - failed.length,
      2 * all.length,
      "",
      how,
    ),
    atMost(
      "hostile farms: granary's memory, above before",
      mostGrown,
      mostGrowthMiB,
      "MiB",
      grown.join(", "),
    ),
    atMost(
      "hostile farms: granary's directory",
      mostStored,
      2 * limitMiB,
      "MiB",
      `with --limit ${limitMiB}M`,
    ),
    forInformation(
      "hostile farms: the longest build",
      longestMs / 1_000,
      "s",
      `${sources} results of a few bytes, one after the other`,
    ),
  ];
}
