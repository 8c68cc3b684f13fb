import type { Command } from "commander";
import type { Repository } from "#api/graph.ts";
import type { RepositorySettings } from "#api/repository-settings.ts";
import type { Describe } from "../command-list.ts";
import { projectName, speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

/** `grange repository`: the repositories of a farm, and their settings. */
export const describeRepository: Describe = (command) => {
  addList(command);
  addShow(command);
  addSet(command);
  withExamples(command, [
    ["list repositories, each with its project", "repository list"],
    [
      "let two repositories share their blobs and results",
      "repository set team/web --project team",
    ],
  ]);
};

function addList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list the repositories that you may read")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
        const all = await session.api.call(graphEndpoints.repositories, {});
        return answer(session, options, all, () => repositoryLines(all));
      }),
    );
}

function addShow(command: Command): void {
  speaksToServer(command.command("show <repository>"))
    .description("show the settings of a repository")
    .action((repository: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { repositoryEndpoints } = await import("#api/endpoints/repository-endpoints.ts");
        const settings = await session.api.call(repositoryEndpoints.repositorySettings, {
          params: { repository },
        });
        return answer(session, options, settings, () => settingsLines(settings));
      }),
    );
}

interface SetOptions extends CommonOptions {
  readonly project?: string;
}

function addSet(command: Command): void {
  speaksToServer(command.command("set <repository>"))
    .description("change the settings of a repository; graphs that exist keep their project")
    .option("--project <name>", "where its inputs, outputs, logs and results are kept", projectName)
    .action((repository: string, options: SetOptions) =>
      inSession(options, async (session) => {
        const { repositoryEndpoints } = await import("#api/endpoints/repository-endpoints.ts");
        const { project } = options;
        if (project === undefined) throw new UsageError("nothing would change: give --project");
        const settings = await session.api.call(repositoryEndpoints.setRepository, {
          params: { repository },
          body: { project },
        });
        return answer(session, options, settings, () => settingsLines(settings));
      }),
    );
}

function settingsLines({ repository, project }: RepositorySettings): string[] {
  return tableLines([
    ["repository", printableLine(repository)],
    ["project", printableLine(project)],
  ]);
}

function repositoryLines(all: readonly Repository[]): string[] {
  if (all.length === 0) return ["There is no repository that you may read."];
  return tableLines([
    ["repository", "project", "graphs", "address"],
    ...all.map(({ name, project, graphs, url }) => [
      printableLine(name),
      printableLine(project),
      String(graphs),
      printableLine(url),
    ]),
  ]);
}
