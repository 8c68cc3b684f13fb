import { projectOf } from "./project-of.ts";

/** The output of an attempt of an execution, as a ByteStream resource. */
export interface LogStreamName {
  readonly project: string;
  readonly executionId: string;
  /** Another attempt has another stream. */
  readonly attempt: number;
  readonly stream: "stdout" | "stderr";
}

const form = /^(?:(.*)\/)?logs\/([0-9a-f-]{36})\/(\d{1,9})\/(stdout|stderr)$/;

/** `[instance/]logs/<execution>/<attempt>/stdout`: no blob's name, which ends with a size. */
export function logStreamName(
  instanceName: string,
  { executionId, attempt, stream }: Omit<LogStreamName, "project">,
): string {
  const name = `logs/${executionId}/${attempt}/${stream}`;
  return instanceName === "" ? name : `${instanceName}/${name}`;
}

/** Undefined for what names something else. Throws `invalid_argument` for an instance that can be no project. */
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
