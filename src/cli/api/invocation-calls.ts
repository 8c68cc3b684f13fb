import { CancelledInvocation } from "#api/cancel.ts";
import { ExecutionDetail } from "#api/execution.ts";
import {
  type InvocationAction,
  InvocationActions,
  InvocationDetail,
  InvocationList,
} from "#api/invocation.ts";
import type { ApiClient } from "./api-client.ts";

export interface InvocationsQuery {
  readonly project?: string | undefined;
  readonly commit?: string | undefined;
  readonly limit: number;
}

/** Goes of build tools, and what they had executed. */
export function invocationCalls(api: ApiClient) {
  const path = (id: string) => `/invocations/${encodeURIComponent(id)}`;
  const query = (project: string) => new URLSearchParams({ project });
  const executionPath = (id: string) => `/executions/${encodeURIComponent(id)}`;
  return {
    list({ project, commit, limit }: InvocationsQuery): Promise<InvocationList> {
      const search = new URLSearchParams({ limit: String(limit) });
      if (project !== undefined) search.set("project", project);
      if (commit !== undefined) search.set("commit", commit);
      return api.get(InvocationList, `/invocations?${search.toString()}`);
    },
    invocation: (id: string, project: string): Promise<InvocationDetail> =>
      api.get(InvocationDetail, `${path(id)}?${query(project).toString()}`),

    /** The first of those that failed. */
    async failedActions(id: string, project: string, most: number): Promise<InvocationAction[]> {
      const search = query(project);
      search.set("state", "failed");
      search.set("limit", String(most));
      const page = await api.get(InvocationActions, `${path(id)}/actions?${search.toString()}`);
      return page.actions;
    },
    cancel: (id: string, project: string): Promise<CancelledInvocation> =>
      api.post(CancelledInvocation, `${path(id)}/cancel?${query(project).toString()}`, {}),

    execution: (id: string): Promise<ExecutionDetail> =>
      api.get(ExecutionDetail, executionPath(id)),

    /** What an execution wrote so far, piece by piece. */
    async *log(id: string, stream: "stdout" | "stderr"): AsyncGenerator<Uint8Array> {
      for (let offset = 0; ; ) {
        const address = `${executionPath(id)}/log?stream=${stream}`;
        const { bytes, nextOffset } = await api.logAt(address, offset);
        if (bytes.length === 0) return;
        yield bytes;
        offset = nextOffset;
      }
    },
  };
}
