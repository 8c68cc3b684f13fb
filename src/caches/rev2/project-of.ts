import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";
import { problemOfProjectName } from "#core/project-name.ts";

const mostShown = 128;

/** Returns the project of an instance name. Throws `invalid_argument` for an invalid name. */
export function projectOf(instanceName: string): string {
  if (instanceName === "") return defaultProject;
  const problem = problemOfProjectName(instanceName);
  if (problem === undefined) return instanceName;
  throw new Fault(
    "invalid_argument",
    `the instance name ${JSON.stringify(instanceName.slice(0, mostShown))} ${problem}`,
  );
}
