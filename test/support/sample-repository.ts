import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A Git repository for a test, with commits that are the same every time. */
export interface SampleRepository {
  readonly path: string;
  /** Writes files (null removes one) and commits them; returns the commit's id. */
  commit(files: Readonly<Record<string, string | null>>, subject?: string): Promise<string>;
  git(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function sampleRepository(
  files: Readonly<Record<string, string>>,
): Promise<SampleRepository> {
  const path = await mkdtemp(join(tmpdir(), "grange-sample-"));
  let commits = 0;
  const git = async (...args: string[]) => {
    // One second between commits, because tests contain the ids of the first sixty.
    const date = new Date(Date.UTC(2024, 0, 1, 0, 0, commits)).toISOString().replace(".000Z", "Z");
    const { stdout } = await run("git", ["-C", path, ...args], {
      env: {
        ...process.env,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "A. Author",
        GIT_AUTHOR_EMAIL: "author@example.org",
        GIT_COMMITTER_NAME: "A. Author",
        GIT_COMMITTER_EMAIL: "author@example.org",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    });
    return stdout.trim();
  };
  await git("init", "--quiet", "--initial-branch=main");

  const repository: SampleRepository = {
    path,
    git,
    async commit(changed, subject = `Commit ${commits + 1}`) {
      for (const [name, text] of Object.entries(changed)) {
        const file = join(path, name);
        await mkdir(dirname(file), { recursive: true });
        if (text === null) await rm(file);
        else await writeFile(file, text);
      }
      await git("add", "--all");
      await git("commit", "--quiet", "--allow-empty", "-m", subject);
      commits += 1;
      return git("rev-parse", "HEAD");
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
  await repository.commit(files);
  return repository;
}
