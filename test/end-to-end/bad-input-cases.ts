import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { type Farm, grange } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";
import type { Need } from "../support/needs/needs.ts";
import { type Finished, runProgram } from "../support/process.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import { onSmallDisk, smallDisk } from "../support/small-disk.ts";

/** Invalid input of a user, and what the error message must contain. */
interface BadInput {
  readonly name: string;
  /** Runs the command; the farm is available for cases that need one. */
  run(farm: Farm, scratch: string): Promise<Finished>;
  readonly need?: Need;
  /** The command's output must match each: the problem, its place, and a remedy. */
  readonly says: readonly RegExp[];
}

const run = (...args: string[]) => runProgram(process.execPath, [grange, ...args]);

/** Definitions that `grange submit` sends to a running farm. */
function definitions(name: string, text: string, says: readonly RegExp[]): BadInput {
  return {
    name,
    says,
    async run(farm) {
      const repository = await sampleRepository({ ".grange/farm.yml": text });
      try {
        return await run("submit", "--server", farm.url, "--repo", repository.path, "--wait");
      } finally {
        await repository.remove();
      }
    },
  };
}

/** Runs `grange up` on a valid repository, so that only the other arguments are wrong. */
async function up(...args: string[]): Promise<Finished> {
  const repository = await sampleRepository({
    ".grange/farm.yml": 'version: 1\njobs:\n  a: { commands: "true" }\n',
  });
  try {
    return await run("up", "--once", "--repo", repository.path, ...args);
  } finally {
    await repository.remove();
  }
}

/** Ten levels of ten aliases each: 10^10 scalars from a kilobyte. */
function yamlBomb(): string {
  const levels = Array.from({ length: 10 }, (_, i) =>
    i === 0
      ? "l0: &l0 [x, x, x, x, x, x, x, x, x, x]"
      : `l${i}: &l${i} [${Array.from({ length: 10 }, () => `*l${i - 1}`).join(", ")}]`,
  );
  return ["version: 1", "jobs: {}", ...levels, ""].join("\n");
}

export const badInputs: readonly BadInput[] = [
  definitions(
    "a wrong key in a definition",
    "version: 1\njobs:\n  lint:\n    comands: [npm run lint]\n",
    [/farm\.yml:4/, /comands/, /commands/],
  ),
  definitions(
    "a cycle",
    "version: 1\njobs:\n  a: { commands: x, needs: [b] }\n  b: { commands: x, needs: [c] }\n  c: { commands: x, needs: [a] }\n",
    [/farm\.yml:\d/, /a → b → c → a|b → c → a → b|c → a → b → c/],
  ),
  definitions(
    "an unknown job in needs",
    "version: 1\njobs:\n  build: { commands: x }\n  test: { commands: x, needs: [biuld] }\n",
    [/farm\.yml:4/, /biuld/, /build/],
  ),
  definitions("a YAML bomb", yamlBomb(), [/farm\.yml/, /alias/i]),
  definitions("text that is no YAML", "version: 1\njobs:\n  a: [\n", [/farm\.yml:\d/]),
  {
    name: "an unknown revision",
    says: [/no-such-branch/, /revision|branch/i],
    async run(farm) {
      const repository = await sampleRepository({ file: "" });
      try {
        return await run(
          "submit",
          "--server",
          farm.url,
          "--repo",
          repository.path,
          "--rev",
          "no-such-branch",
        );
      } finally {
        await repository.remove();
      }
    },
  },
  {
    name: "a path without a repository",
    says: [/not a (git )?repository/i],
    async run(farm, scratch) {
      const folder = join(scratch, "no-repository");
      await mkdir(folder);
      return run("submit", "--server", farm.url, "--repo", folder);
    },
  },
  {
    name: "a port that is taken",
    says: [/\b\d{4,5}\b/, /in use|taken/i, /--port/],
    async run(_, scratch) {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
      const address = holder.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      try {
        return await up("--port", String(port), "--data", join(scratch, "port"));
      } finally {
        holder.close();
      }
    },
  },
  {
    name: "a data directory of a newer version",
    says: [/newer version/, /GRANGE_DATA|--data/],
    async run(farm, scratch) {
      // The database of a running farm is given to a second server by URL.
      const url = await farmDatabaseUrl(farm, "newer");
      const admin = openPostgres({ url: await farmDatabaseUrl(farm), poolSize: 1 });
      await admin.script("create database newer");
      await admin.close();
      const newer = openPostgres({ url, poolSize: 1 });
      await newer.script(
        "create table migration (number integer primary key, name text not null, applied_at timestamptz not null default now())",
      );
      await newer.run(sql`insert into migration (number, name) values (9999, '9999_future.sql')`);
      await newer.close();
      return runProgram(
        process.execPath,
        [grange, "server", "--port", "0", "--data", join(scratch, "newer")],
        { env: { GRANGE_DATABASE_URL: url } },
      );
    },
  },
  {
    name: "a data directory that another server works in",
    says: [/another Grange server \(process \d+\)/, /stop it/i, /GRANGE_DATA|--data/],
    run: (farm) => run("server", "--port", "0", "--data", farm.dataDir),
  },
  {
    name: "a data directory that cannot be written",
    says: [/cannot write|not writable/i, /GRANGE_DATA|--data/],
    async run(_, scratch) {
      // A file at the directory's path stops root as well; permissions do not.
      await writeFile(join(scratch, "in-the-way"), "");
      return up("--port", "0", "--data", join(scratch, "in-the-way", "data"));
    },
  },
  {
    name: "a disk that is full while a job runs",
    need: smallDisk,
    says: [/no space is left in \/.*\/blobs/, /Free disk space, or move the directory/],
    run: () =>
      onSmallDisk(async ({ fill, submit }) => {
        await fill(4_000_000);
        return submit();
      }),
  },
];

/** Runs one case in a new temporary directory. */
export async function tryBadInput(
  bad: BadInput,
  farm: Farm,
): Promise<Finished & { readonly said: string; readonly missing: readonly RegExp[] }> {
  const scratch = await mkdtemp(join(tmpdir(), "grange-bad-"));
  try {
    const finished = await bad.run(farm, scratch);
    const said = `${finished.stderr}${finished.stdout}`;
    return { ...finished, said, missing: bad.says.filter((words) => !words.test(said)) };
  } finally {
    await chmod(scratch, 0o700);
    await rm(scratch, { recursive: true, force: true });
  }
}
