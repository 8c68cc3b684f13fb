import { jobTokenName } from "#core/job-rights.ts";
import type { ActionRequest } from "./action-request.ts";

/**
 * Returns the variables by which a job learns of its token and of the addresses where it may use it.
 *
 * With a token, a job has variables of its own for each run anyway; `TRACEPARENT` lets its calls join the trace of the
 * run. Other jobs do not get it, because their environment is part of their action.
 *
 * The command's own variables cannot replace them: a job would send its token to an address of the definition's author.
 */
export function variablesOfToken(
  token: ActionRequest["token"],
  farm: string | undefined,
  traceparent?: string,
): [name: string, value: string][] {
  if (token === undefined || farm === undefined) return [];
  const { caches, identity } = token.rights;
  const base = farm.replace(/\/+$/, "");
  const project = caches?.split("/").map(encodeURIComponent).join("/");
  return [
    [jobTokenName, token.value],
    ...optional("GRANGE_CACHES", project && `${base}/cache/${project}`),
    ...optional("TRACEPARENT", traceparent),
    ...optional("GRANGE_IDENTITY_URL", identity && `${base}/identity/token`),
  ];
}

function optional(name: string, value: string | undefined): [name: string, value: string][] {
  return value === undefined ? [] : [[name, value]];
}
