import { projectOf } from "./project-of.ts";

/** The output of an attempt of an execution, as a ByteStream resource. */
export interface LogStreamName {
  readonly project: string;
  readonly executionId: string;
  /** Each attempt has its own stream. */
  readonly attempt: number;
  readonly stream: "stdout" | "stderr";
}

const form = /^(?:(.*)\/)?logs\/([0-9a-f-]{36})\/(\d{1,9})\/(stdout|stderr)$/;

/** `[instance/]logs/<execution>/<attempt>/stdout`. It cannot be a blob's name, because those end with a size. */
export function logStreamName(
  instanceName: string,
  { executionId, attempt, stream }: Omit<LogStreamName, "project">,
): string {
  const name = `logs/${executionId}/${attempt}/${stream}`;
  return instanceName === "" ? name : `${instanceName}/${name}`;
}

/**
 * Returns undefined for other resources. Throws `invalid_argument` for an instance that is not a valid project name.
 */
export function parseLogStreamName(name: string): LogStreamName | undefined {
  const match = form.exec(name);
  if (match === null) return undefined;
  const [, instanceName = "", executionId = "", attempt, stream] = match;
  return {
    project: projectOf(instanceName),
    executionId,
    attempt: Number(attempt),
    stream: stream === "stderr" ? "stderr" : "stdout",
  };
}
