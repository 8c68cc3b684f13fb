import type { Project } from "#api/project.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Describe } from "../command-list.ts";
import { projectName, speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

interface ProjectOptions extends CommonOptions {
  readonly remove?: boolean;
  readonly empty?: boolean;
  readonly withBlobs?: boolean;
}

/** `grange project`: lists projects with blobs, and removes unused ones. */
export const describeProject: Describe = (command) => {
  speaksToServer(command)
    .argument("[projects...]", "instance names", oneMoreProject)
    .option("--remove", "remove the projects, if they have no blobs")
    .option("--empty", "with --remove: all projects without blobs")
    .option(
      "--with-blobs",
      "with --remove: also projects with blobs that nobody has requested for 3 hours",
    )
    .action((names: string[], options: ProjectOptions) =>
      inSession(options, async (session) => {
        const { projectEndpoints } = await import("#api/endpoints/project-endpoints.ts");
        const { remove = false, empty = false, withBlobs = false } = options;
        if (!remove) {
          if (empty || withBlobs) throw new UsageError("--empty and --with-blobs need --remove");
          const all = await session.api.call(projectEndpoints.projects, {});
          const projects = all.filter(
            ({ name }) => names.length === 0 || names.includes(name ?? ""),
          );
          return answer(session, options, projects, () => projectLines(projects));
        }
        if (names.length === 0 && !empty)
          throw new UsageError("name the projects to remove, or use --empty");
        const { removed, kept } = await session.api.call(projectEndpoints.removeProjects, {
          body: { names, empty, withBlobs },
        });
        answer(session, options, { removed, kept }, () => [
          ...removed.map((name) => printableLine(`removed ${name}`)),
          ...kept.map(({ project, why }) => printableLine(`kept ${project}: ${why}`)),
          ...(removed.length + kept.length === 0 ? ["There is no project without blobs."] : []),
        ]);
        return kept.length === 0 ? exitCodes.ok : exitCodes.failed;
      }),
    );
  withExamples(command, [
    ["list projects, who created them, and their contents", "project"],
    ["remove all projects without blobs", "project --remove --empty"],
    ["remove two projects with their contents", "project old/tools test7 --remove --with-blobs"],
  ]);
};

/** Checks each name when it is read, as commander requires it for variadic arguments. */
function oneMoreProject(name: string, before: readonly string[] = []): string[] {
  return [...before, projectName(name)];
}

function projectLines(projects: readonly Project[]): string[] {
  if (projects.length === 0) return ["There is only the project `default`."];
  return tableLines([
    ["project", "created by", "begun", "blobs", "size", "repositories"],
    ...projects.map(({ name, directory, begunBy, begunAt, blobs, bytes, repositories }) => [
      printableLine(name ?? `(${directory})`),
      printableLine(begunBy ?? "-"),
      begunAt?.slice(0, 10) ?? "-",
      String(blobs),
      memorySizeText(bytes),
      printableLine(repositories.join(", ") || "-"),
    ]),
  ]);
}
