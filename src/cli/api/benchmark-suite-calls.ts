import { PushedSuite, SetBalance, SuiteDetail, Suites } from "#api/benchmark-history.ts";
import type { ApiClient } from "./api-client.ts";

/** Definitions of suites, and how their sets would be balanced. */
export function benchmarkSuiteCalls({ get, put }: Pick<ApiClient, "get" | "put">) {
  const path = (name: string) => `/benchmarks/suites/${encodeURIComponent(name)}`;
  return {
    suites: () => get(Suites, "/benchmarks/suites"),
    suite: (name: string) => get(SuiteDetail, path(name)),
    push: (name: string, definition: unknown) => put(PushedSuite, path(name), { definition }),
    balance: (suite: string, target: string, sets: number | undefined) => {
      const query = new URLSearchParams({ suite, target });
      if (sets !== undefined) query.set("sets", String(sets));
      return get(SetBalance, `/benchmarks/sets/balance?${query.toString()}`);
    },
  };
}
