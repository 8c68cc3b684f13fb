import { dirname, resolve } from "node:path";
import { Fault } from "#core/fault.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { readWorkingDefinitions } from "#local-run/working-definitions.ts";
import { readWorkerConfig, type WorkerConfig } from "#worker/config.ts";
import { checkoutRoot } from "./checkout.ts";
import { ProblemsFound } from "./problems-found.ts";
import { hideFarmData } from "./work-here.ts";

/** Returns the top of the checkout whose jobs a command runs. Throws `failed_precondition` outside of one. */
export async function checkoutToRun(directory: string): Promise<string> {
  const root = await checkoutRoot(directory);
  if (root !== undefined) return root;
  const message = `${directory} is not in a Git checkout; change to one, or name one with --repo`;
  throw new Fault("failed_precondition", message);
}

/**
 * Returns the settings of a worker of this machine, like those of `grange worker`, for jobs of a checkout. Jobs do not
 * see the checkout itself: files that they read must be among their inputs.
 */
export async function localWorkerConfig(root: string, dataDir?: string): Promise<WorkerConfig> {
  const config = await hideFarmData(
    readWorkerConfig(dataDir === undefined ? {} : { dataDir: resolve(dataDir) }),
    {},
  );
  return {
    ...config,
    path: jobPath(config.path, root),
    hiddenPaths: [...config.hiddenPaths, root],
  };
}

/** Returns a search path without the directories that `npm` adds for scripts: those are tools of the checkout. */
export function jobPath(path: string, root: string): string {
  const isOfCheckout = (directory: string) =>
    directory === root ||
    directory.startsWith(`${root}/`) ||
    (directory.endsWith("/node_modules/.bin") && root.startsWith(dirname(dirname(directory))));
  return path
    .split(":")
    .filter((directory) => !isOfCheckout(directory))
    .join(":");
}

/** Runs `work`; problems of the checkout's definitions are shown in their own text. */
export async function withDefinitionTexts<Answer>(
  root: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof DefinitionProblems)) throw cause;
    const texts = await readWorkingDefinitions(root);
    throw new ProblemsFound(cause.message, cause.problems, (file) => texts.get(file));
  }
}
