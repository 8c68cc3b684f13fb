import { resolve } from "node:path";
import type { ExitCode } from "../exit-code.ts";
import { answer, type CommonOptions, type Session } from "../session.ts";
import { makeDemo } from "./make-demo.ts";
import { makeExample } from "./make-example.ts";
import { downloadVersion, publishedVersions } from "./published-versions.ts";

export interface ExampleOptions extends CommonOptions {
  readonly versions: number;
  readonly prereleases?: boolean;
  readonly out?: string;
}

/** Creates the demo project at the user's path, without the network. */
export async function runDemoExample(
  session: Session,
  options: Pick<ExampleOptions, "out" | "json">,
): Promise<ExitCode> {
  const { path: folder, commits } = await makeDemo(resolve(options.out ?? "concordance"));
  return answer(session, options, { folder, commits }, () => [
    `${commits.length} commits in ${folder}. To run the newest: grange up --repo ${folder}`,
  ]);
}

/** Creates a repository of a package's versions at the user's path, and prints how to continue. */
export async function runExample(
  session: Session,
  name: string,
  options: ExampleOptions,
): Promise<ExitCode> {
  const folder = resolve(options.out ?? name.replace(/^@/, "").replace("/", "-"));
  const versions = await publishedVersions(name, {
    count: Math.max(1, options.versions),
    withPrereleases: options.prereleases === true,
  });
  await makeExample(
    {
      name,
      versions,
      download: (version) => downloadVersion(name, version),
      onVersion: (version) => session.terminal.notes.line(`${name} ${version}`),
    },
    folder,
  );
  return answer(session, options, { folder, versions }, () => [
    `${versions.length} commits in ${folder}. To run the newest: grange up --repo ${folder}`,
  ]);
}
