import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { NewCommit, NewFile } from "./fast-import.ts";

/** The folders of the demo project's commits: next to this source, and next to the bundle. */
const projectFolder = fileURLToPath(new URL("./demo-project/", import.meta.url));

interface DemoCommit {
  /** Below `demo-project/`: the files that the commit adds or changes. */
  readonly folder: string;
  readonly author: string;
  readonly date: Date;
  readonly message: string;
}

const ada = "Ada Berg <ada@concordance.invalid>";
const ben = "Ben Okoro <ben@concordance.invalid>";

/** The history of the demo project, oldest first. Authors and dates are fixed, so that ids are the same everywhere. */
export const demoCommits: readonly DemoCommit[] = [
  {
    folder: "1-count-words",
    author: ada,
    date: new Date("2026-03-02T09:12:00Z"),
    message:
      "List the words of a text with their lines\n\nAs text and as HTML. The C library counts words in the same way.",
  },
  {
    folder: "2-json",
    author: ben,
    date: new Date("2026-03-03T14:40:00Z"),
    message: "Write JSON, too\n\nFor programs that read a concordance.",
  },
  {
    folder: "3-hyphens",
    author: ada,
    date: new Date("2026-03-05T10:05:00Z"),
    message: 'Keep words with hyphens together\n\n"well-known" was two words.',
  },
  {
    folder: "4-dashes",
    author: ada,
    date: new Date("2026-03-05T11:31:00Z"),
    message:
      "Split words at a dash of two hyphens again\n\nThe commit before took any number of hyphens for a part of the word.",
  },
  {
    folder: "5-short-hash",
    author: ben,
    date: new Date("2026-03-09T16:22:00Z"),
    message:
      "Hash the beginning of words only\n\nLong words are hashed in less time. The answers are the same.",
  },
  {
    folder: "6-top",
    author: ada,
    date: new Date("2026-03-11T08:55:00Z"),
    message: "List the most frequent words first with --top",
  },
];

/** The positions of events in the history of the demo project, counted from 0. */
export const demoMilestones = { failing: 2, fixed: 3, slower: 4 } as const;

/** Yields the commits with all their files; the files of each folder replace those of the earlier ones. */
export async function* readDemoCommits(): AsyncGenerator<NewCommit> {
  const files = new Map<string, NewFile>();
  for (const { folder, author, date, message } of demoCommits) {
    for (const file of await filesBelow(join(projectFolder, folder))) files.set(file.path, file);
    yield { author, date, message, files: [...files.values()] };
  }
}

async function filesBelow(folder: string): Promise<NewFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return {
          path: path.slice(folder.length + 1).replaceAll("\\", "/"),
          isExecutable: false,
          bytes: await readFile(path),
        };
      }),
  );
}
