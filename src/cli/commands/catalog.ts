import { resolve } from "node:path";
import type { Command } from "commander";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface RepositoryOptions extends CommonOptions {
  readonly repo?: string;
}

interface PushOptions extends RepositoryOptions {
  readonly branch?: string;
  readonly dryRun?: boolean;
}

interface ListOptions extends CommonOptions {
  readonly limit?: number;
}

export const describeCatalog: Describe = (command) => {
  describeDiff(command);
  describeShow(command);
  describePush(command);
  describeList(command);
  withExamples(command, [
    ["compare the definitions of the branch work with those of main", "catalog diff main work"],
    ["show what the last commit changed in the definitions", "catalog diff HEAD~1 HEAD"],
    ["compare two catalogs, by prefixes of their digests", "catalog diff 3fa81c 90be12"],
    ["push local definitions for a branch", "catalog push ../defs --branch main"],
  ]);
};

function describeDiff(command: Command): void {
  speaksToServer(command.command("diff <a> <b>"))
    .description(
      "compare two catalogs by job, edge and switch; each is a digest, a revision, or a branch, which means the definitions of its latest graph",
    )
    .option("--repo <repository>", "the repository of the branches (default: the current one)")
    .action((a: string, b: string, options: RepositoryOptions) =>
      inSession(options, async (session) => {
        const { repositoryHere } = await import("../repository-here.ts");
        const { diffLines } = await import("../diff-lines.ts");
        const repository = await repositoryHere(options.repo, process.cwd());
        const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
        const diff = await session.api.call(catalogEndpoints.diffCatalogs, {
          query: { a, b, repository },
        });
        return answer(session, options, diff, () => diffLines(diff, session.terminal.answer.paint));
      }),
    );
}

function describeShow(command: Command): void {
  speaksToServer(command.command("show <digest>"))
    .description("show the entries of a catalog; with --json, complete")
    .action((digest: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
        const catalog = await session.api.call(catalogEndpoints.catalog, { params: { digest } });
        return answer(session, options, catalog, () => [
          `catalog ${catalog.digest}, since ${timeText(catalog.createdAt)}`,
          ...tableLines(
            catalog.entries.map((entry) => [
              `  ${entry.kind}`,
              printableLine(entry.name),
              entry.digest.slice(0, 10),
            ]),
          ),
        ]);
      }),
    );
}

function describePush(command: Command): void {
  speaksToServer(command.command("push [directory]"))
    .description(
      "store the definitions of a directory (default: .grange) on the farm, and print their digest",
    )
    .option("--branch <name>", "use them for this branch; * means all branches")
    .option("--repo <repository>", "the repository of the branch (default: the current one)")
    .option("--dry-run", "only print their digest, and whether they are new")
    .action((directory: string | undefined, options: PushOptions) =>
      inSession(options, async (session) => {
        const { readDefinitionsFolder } = await import("../definitions-folder.ts");
        const { repositoryHere } = await import("../repository-here.ts");
        const files = await readDefinitionsFolder(resolve(process.cwd(), directory ?? ".grange"));
        const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
        const pushed = await session.api.call(catalogEndpoints.pushCatalog, {
          body: {
            files,
            dryRun: options.dryRun === true,
            ...(options.branch === undefined
              ? {}
              : {
                  branch: options.branch,
                  repository: await repositoryHere(options.repo, process.cwd()),
                }),
          },
        });
        if (pushed.notice !== null) session.terminal.notes.line(`${pushed.notice}.`);
        return answer(session, options, pushed, () => [
          `${pushed.digest} ${pushed.isNew ? `is new, with ${pushed.entries} entries` : "exists already: nothing has changed"}`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list the newest catalogs")
    .option("--limit <n>", "how many (default: 20)", wholeNumber)
    .action((options: ListOptions) =>
      inSession(options, async (session) => {
        const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
        const catalogs = await session.api.call(catalogEndpoints.catalogs, {
          query: { limit: options.limit ?? 20 },
        });
        return answer(session, options, catalogs, () =>
          catalogs.length === 0
            ? ["There is no catalog yet. Submit a graph, or run: grange catalog push"]
            : tableLines(
                catalogs.map(({ digest, createdAt, counts }) => [
                  digest.slice(0, 10),
                  timeText(createdAt),
                  Object.entries(counts)
                    .map(([kind, count]) => `${count} ${kind}${pluralOf(kind, count)}`)
                    .join(", "),
                ]),
              ),
        );
      }),
    );
}

function pluralOf(kind: string, count: number): string {
  if (count === 1) return "";
  return kind === "switch" ? "es" : "s";
}
