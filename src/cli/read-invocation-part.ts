import type { ApiClient } from "./api/api-client.ts";
import type { InvocationPart } from "./invocation-part.ts";
import {
  missLines,
  targetLines,
  testLines,
  timingLines,
  tracedLines,
} from "./invocation-part-lines.ts";

interface Shown {
  readonly value: unknown;
  readonly lines: () => string[];
}

/** The maximum number of rows in a terminal. */
const mostTargets = 200;
const mostMisses = 50;

/** Reads a part of an invocation. */
export async function readPart(
  api: ApiClient,
  part: InvocationPart,
  { id, project }: { readonly id: string; readonly project: string },
): Promise<Shown> {
  const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
  const named = { params: { invocation: id }, query: { project } };
  switch (part) {
    case "targets": {
      const query = { project, limit: mostTargets };
      const value = await api.call(invocationEndpoints.invocationTargets, { ...named, query });
      return { value, lines: () => targetLines(value) };
    }
    case "timing": {
      const value = await api.call(invocationEndpoints.invocationTiming, named);
      return { value, lines: () => timingLines(value) };
    }
    case "misses": {
      const query = { project, limit: mostMisses };
      const value = await api.call(invocationEndpoints.invocationMisses, { ...named, query });
      return { value, lines: () => missLines(value) };
    }
    case "trace": {
      const value = await api.call(invocationEndpoints.invocationTrace, named);
      return { value, lines: () => tracedLines(value) };
    }
  }
}

/** Reads the attempts of a test of an invocation. */
export async function readTests(
  api: ApiClient,
  label: string,
  { id, project }: { readonly id: string; readonly project: string },
): Promise<Shown> {
  const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
  const value = await api.call(invocationEndpoints.invocationTests, {
    params: { invocation: id },
    query: { project, label },
  });
  return { value, lines: () => testLines(value) };
}
